// How a denial reads to the model. The reviewer's reason is meant for it; nothing else about the call is in the message.

import { ApprovalDenied, type ErrorDetails } from "../errors.js";
import type { DecisionFields } from "./decision.js";

export function denialError(decision: DecisionFields, about: ErrorDetails): ApprovalDenied {
  const reason = decision.reason === undefined || decision.reason === "" ? "" : `: ${decision.reason}`;
  return new ApprovalDenied(`a reviewer denied this call${reason}`, about);
}
