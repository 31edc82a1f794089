/** A request that is not carried out; the SDK is told so by a `code` in the result. */
export class MemberRequestError extends Error {
  /** `403` not permitted, `404` nobody there, `409` not possible now, `422` a field is wrong. */
  readonly code: '403' | '404' | '409' | '422'

  constructor(code: MemberRequestError['code'], message: string) {
    super(message)
    this.code = code
  }
}
