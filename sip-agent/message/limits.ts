/** How large a message may be. What is larger is refused. */
export interface MessageLimits {
  /** Bytes of a whole message. Default 65,535 (one UDP datagram). */
  readonly messageBytes: number
  /** Header fields in one message. Default 256. */
  readonly headers: number
  /** Characters of one header field, unfolded. Default 8,192. */
  readonly headerLength: number
}

/** The limits that are used unless others are given. */
export const defaultMessageLimits: MessageLimits = { messageBytes: 65_535, headers: 256, headerLength: 8_192 }
