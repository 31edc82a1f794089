/**
 * Encryption and authentication of one direction, RTP or RTCP. The caller supplies the packet index: `high`
 * and `low` are the upper 16 and the lower 32 of its 48 bits (RTCP has 31).
 */
export interface Transform {
  readonly tagBytes: number
  /**
   * Returns a new buffer: `packet` encrypted from `start` on, authenticated as a whole, with the tag. May
   * change `packet`.
   */
  sealRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): Buffer
  /**
   * Authenticates a packet with a payload from `start` on and decrypts it in place. Returns false and leaves
   * the packet unchanged if the tag is wrong.
   */
  openRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): boolean
  /** Encrypts an RTCP compound (RFC 3711 section 3.4, RFC 7714 section 9), including the index word. */
  sealRtcp(packet: Buffer, ssrc: number, index: number): Buffer
  /** Returns the plain compound; undefined if the tag is wrong. */
  openRtcp(packet: Buffer, ssrc: number, index: number): Buffer | undefined
  /** Returns the encryption flag and index of an RTCP compound; undefined if the packet is too short. */
  rtcpWord(packet: Buffer): number | undefined
}

/** Length of an RTCP compound's unencrypted part: its first header and the sender's SSRC. */
export const rtcpClearBytes = 8
/** Length of the word with the encryption flag and the index. */
export const rtcpWordBytes = 4
/** Returns the index word of a sent compound: encryption is always on. */
export const rtcpWordOf = (index: number): number => (0x80000000 | index) >>> 0
