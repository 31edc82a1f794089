import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { DigestSession } from '../digest/digest-session.ts'
import type { FarResponse, Headers, SentRequest, SrfLike } from '../srf.ts'

/** Collaborators of {@link sendOutOfDialog}. */
export interface RequestSenderDeps {
  readonly srf: Pick<SrfLike, 'request'>
  readonly clock: Clock
  readonly log: Pick<Log, 'info'>
}

/** A request outside calls: OPTIONS or REGISTER. */
export interface OutOfDialogRequest {
  readonly method: string
  readonly uri: string
  /** Headers for the next time that it is sent; each time needs a higher CSeq. */
  headers(): Headers
  /** Answers its challenges. */
  readonly digest: DigestSession
  /** Returns why the request may not be sent, before each attempt; default: it may. */
  readonly objection?: () => Promise<string | undefined>
}

/** Result of a request. */
export type SendOutcome =
  | { readonly kind: 'final'; readonly response: FarResponse; readonly sent: SentRequest | undefined }
  /** The agent did not take it: it has no way to send it. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The agent is disconnected, or reports nothing. */
  | { readonly kind: 'lost'; readonly why: string }

/** Longest wait for the agent; it makes a final response itself after 32 s. */
const maxWaitMs = 40_000

/**
 * Sends a request, and again for each challenge that may be answered. Calls `done` once. Returns the function
 * that cancels the wait.
 */
export const sendOutOfDialog = (
  deps: RequestSenderDeps,
  request: OutOfDialogRequest,
  done: (outcome: SendOutcome) => void,
): (() => void) => {
  const { srf, clock, log } = deps
  const { method, uri, digest } = request
  const signed = { method, uri, body: '' }
  let over = false
  const finish = (outcome: SendOutcome) => {
    if (over) return
    over = true
    guard.cancel()
    done(outcome)
  }
  const guard = clock.after(maxWaitMs, () => finish({ kind: 'lost', why: 'no final response' }))
  const answered = (response: FarResponse, sent: SentRequest | undefined) => {
    const { status } = response
    if (over || status < 200) return
    if (status === 401 || status === 407) {
      const answer = digest.answer(response, signed)
      if ('headers' in answer) return send(answer.headers)
      log.info(
        { event: 'digest.challenge-unanswered', method, status, why: answer.why },
        'challenge not answered',
      )
    }
    if (status < 300) digest.accepted()
    finish({ kind: 'final', response, sent })
  }
  const send = (credentials: Headers) => {
    try {
      srf.request(uri, { method, headers: { ...request.headers(), ...credentials } }, (error, sent) => {
        if (error || !sent) finish({ kind: 'refused', why: String(error) })
        else sent.on('response', (response) => answered(response, sent))
      })
    } catch (error) {
      finish({ kind: 'lost', why: String(error) })
    }
  }
  const begin = () => {
    if (!over) send(digest.begin(signed))
  }
  if (!request.objection) begin()
  else
    request.objection().then(
      (why) => (why === undefined ? begin() : finish({ kind: 'refused', why })),
      (error) => finish({ kind: 'refused', why: String(error) }),
    )
  return () => {
    over = true
    guard.cancel()
  }
}
