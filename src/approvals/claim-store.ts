// `ClaimStore` port: used answers that outlive the process and the checkpointer. Beside an executor it makes an answer good
// for one use everywhere, even for somebody who can roll a checkpointer back.

/** Where uses are kept. One insert a use. */
export interface ClaimStore {
  /**
   * Claim the binding for this token, or find it claimed by the same one: a lost acknowledgement can be repeated. Kept until
   * `guardUntil` (milliseconds since the epoch) plus the skew of clocks has passed; a later `guardUntil` extends it.
   *
   * @throws ApprovalAlreadyDecided when another token was first
   * @throws StoreUnavailable when it is full or cannot be reached: nothing new was claimed, nothing old was dropped
   * @throws ToolUsageError when token or time cannot be used
   */
  claim(binding: string, token: string, guardUntil: number): Promise<void>;
}
