/** Rejection of a member request, sent as `code` in its result. */
export class MemberRequestError extends Error {
  /** `403` not permitted, `404` unknown member or call, `409` not possible now, `422` invalid field. */
  readonly code: '403' | '404' | '409' | '422'

  constructor(code: MemberRequestError['code'], message: string) {
    super(message)
    this.code = code
  }
}
