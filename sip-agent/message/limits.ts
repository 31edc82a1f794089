/** Maximum sizes of a message; a larger message is rejected. */
export interface MessageLimits {
  /** Bytes of a whole message. Default 65,535 (one UDP datagram). */
  readonly messageBytes: number
  /** Header fields in one message. Default 256. */
  readonly headers: number
  /** Characters of one unfolded header field. Default 8,192. */
  readonly headerLength: number
}

/** Default limits. */
export const defaultMessageLimits: MessageLimits = { messageBytes: 65_535, headers: 256, headerLength: 8_192 }
