/**
 * Encrypts and authenticates the packets of one direction, RTP or RTCP. It knows nothing of numbering: who uses it tells the index,
 * `high` and `low` being the upper 16 and the lower 32 of its 48 bits (RTCP has 31).
 */
export interface Transform {
  readonly tagBytes: number
  /** A new buffer: `packet` from `start` on encrypted, what is before it authenticated alone, and the tag. `packet` may be changed. */
  sealRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): Buffer
  /** Checks a packet whose payload begins at `start` and decrypts it in place; false, with the packet as it was, where the tag is wrong. */
  openRtp(packet: Buffer, start: number, ssrc: number, high: number, low: number): boolean
  /** The same for an RTCP compound (RFC 3711 section 3.4, RFC 7714 section 9), with the word of the index. */
  sealRtcp(packet: Buffer, ssrc: number, index: number): Buffer
  /** The plain compound; undefined where the tag is wrong. `word`: encryption flag, which has to be set, and index. */
  openRtcp(packet: Buffer, ssrc: number, index: number): Buffer | undefined
  /** The encryption flag and index of an RTCP compound; undefined for what is too short. */
  rtcpWord(packet: Buffer): number | undefined
}

/** Bytes of an RTCP compound that are never encrypted: its first header, and the sender's SSRC. */
export const RTCP_CLEAR_BYTES = 8
/** Bytes of the word with the encryption flag and the index. */
export const RTCP_WORD_BYTES = 4
/** That word for an index: everything that we send is encrypted. */
export const rtcpWordOf = (index: number): number => (0x80000000 | index) >>> 0
