// The public surface of `agent-adapter/testing`.

// ---- time
export { ManualClock } from "./manual-clock.js";

// ---- approvals from a list
export { scriptedApproval, type ScriptedAnswer, type ScriptedApproval } from "./scripted-approval.js";

// ---- what stores promise, as cases for any test runner
export { approvalStoreContract } from "./approval-store-contract.js";
export { cacheContract } from "./cache-contract.js";
export { claimContract, type ClaimContractOptions } from "./claim-contract.js";
export { ledgerContract, type LedgerContractOptions } from "./ledger-contract.js";
export type { ContractCase, ContractOptions, MakeStore } from "./contract.js";

// ---- what checkpointers of LangGraph must do for approvals
export { assertSaver, checkSaver } from "./check-saver.js";
export type { CheckedSaver, CheckSaverOptions, SaverFinding } from "./check-saver.js";

// ---- attacks on any stack that lets a human approve calls
export { runAttacks, type AttackRow, type RunAttacksOptions } from "./attacks/run-attacks.js";
export { formatAttackTable } from "./attacks/attack-table.js";
export { ATTACK_CASES } from "./attacks/attack-cases.js";
export type { AttackCase, AttackFamily, AttackOutcome, AttackStep, CaseCall, Send } from "./attacks/attack-case.js";
export type {
  ApproveOptions,
  AttackCall,
  AttackDriver,
  AttackNeed,
  AttackSession,
  AttackTarget,
  AttackTool,
  AttackWorld,
  ClientAnswer,
  MakeAttackDriver,
  PendingCall,
} from "./attacks/driver.js";
