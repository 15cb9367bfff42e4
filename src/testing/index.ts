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
