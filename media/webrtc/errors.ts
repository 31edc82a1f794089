/** Why a session with a browser was refused. */
export type WebRtcErrorCode = 'bad_sdp' | 'no_common_codec' | 'no_ports' | 'wrong_state' | 'closed'

/** An error of `media/webrtc`. `message` names the field, what was expected and where; it holds no credential. */
export class WebRtcError extends Error {
  readonly code: WebRtcErrorCode

  constructor(code: WebRtcErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WebRtcError'
    this.code = code
  }
}
