import { redactedUrl } from '../../../handlers/common/urls.ts'
import type { CalleeState } from '../../../handlers/verbs.ts'
import type { Cause, Code } from '../../core/errors/catalogue.ts'
import { shownUri } from '../../core/sip-uri.ts'
import type { CallId, HandlerSpec, StatusTarget } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { Arrival } from '../call-ports.ts'
import type { Branch } from '../connect/branch.ts'
import type { CdrSource } from './call-cdr.ts'
import type { CallRowLog, CallStatus } from './call-rows.ts'

/** Who writes calls down: the log, and whoever is to be told how a call goes. */
export interface CallBook extends CallRowLog {
  /** How the call of this id goes is told to `status`, in place of whom it was told before; it has begun. */
  watch(id: string, status: StatusTarget): void
}

/** Of whom a destination is called. */
export interface Calling {
  readonly projectId: string
  /** The call that calls it; absent: the gateway makes a call by itself. */
  readonly callId?: CallId
}

/** A called leg, or the legs that ring for one destination, as long as it is nobody's call of its own. */
export interface Called {
  readonly projectId: string
  readonly branch: Branch
  readonly answered: boolean
}

/**
 * Tells the {@link CallBook} of every call and of every leg that is called for one, each under the id that customers know it by (`CallSid` of
 * callbacks, `call_id` of events): `began` once, `changed` at ringing and answer, `ended` once.
 *
 * - What comes in, and is refused at once, too: by {@link arrived}, and {@link ended}.
 * - What the gateway calls by itself, for a `connect`, or for a transfer (REFER): by {@link called}. Who was dialled in many places is one.
 *   Who waited in a queue is a call already.
 * - A leg that takes another one's place (Replaces) goes on as the call, or the called leg, whose place it takes.
 */
export class Journal {
  readonly #book: CallBook | undefined
  readonly #now: () => number
  readonly #called = new Map<string, Called>()

  constructor(book: CallBook | undefined, now: () => number) {
    this.#book = book
    this.#now = now
  }

  /** What is called under this id, and is no call of its own. */
  find(id: string): Called | undefined {
    return this.#called.get(id)
  }

  /** A call came in, whatever becomes of it. */
  arrived({ callId: id, parentId, projectId, leg, plan }: Arrival): void {
    const handler = plan.kind === 'handler' ? plan.handler : undefined
    const { startedAt: createdAt } = leg.times
    const { type, from, to } = leg
    const made = { id, projectId, direction: 'inbound', type, from: from.uri, to: to.uri, createdAt } as const
    this.#book?.began(parentId === undefined ? made : { ...made, parentId })
    if (handler) this.runs(id, handler)
    this.#book?.changed(id, { status: 'ringing', ringingAt: createdAt })
  }

  /** This handles the call from now on. */
  runs(id: string, handler: HandlerSpec): void {
    if (handler.status) this.#book?.watch(id, handler.status)
    this.#book?.changed(id, { document: documentOf(handler) })
  }

  answered({ id, answeredAt }: Pick<Call, 'id' | 'answeredAt'>): void {
    if (answeredAt !== undefined) this.#book?.changed(id, { status: 'in-progress', answeredAt })
  }

  /** A call is over, or was refused. */
  ended({ id, info, caller, cdrLegs }: CdrSource): void {
    const { state, times } = caller
    const cause: Cause = state.kind === 'ended' ? state.cause : { code: 'internal' }
    const first = cdrLegs[0]?.leg ?? caller
    const answered = first.times.answeredAt !== undefined
    const sipStatus = cause.sip ?? caller.facts.response?.status
    this.#book?.ended(id, {
      status: statusOf(cause.code, answered, info.direction),
      endedAt: times.endedAt ?? this.#now(),
      code: cause.code,
      ...(sipStatus !== undefined && { sipStatus }),
    })
  }

  /** How a destination goes that is called. */
  called({ projectId, callId: parentId }: Calling, branch: Branch, state: CalleeState): void {
    const id = branch.callId
    const { callee } = state
    // Nothing was dialled, or who is meant waited in a queue.
    if (!callee || callee.callId !== id) return
    if (state.kind === 'ended') {
      this.#called.delete(id)
      // Of a call of our own that was answered, its call tells the end.
      if (parentId !== undefined || !branch.hasWon) this.#over(id, branch, state)
      return
    }
    this.#called.set(id, { projectId, branch, answered: state.kind === 'answered' })
    const at = this.#now()
    if (state.kind === 'ringing') this.#book?.changed(id, { status: 'ringing', ringingAt: at })
    else if (state.kind === 'answered') this.#book?.changed(id, { status: 'in-progress', answeredAt: at })
    else {
      const { type, from } = callee
      const direction = parentId === undefined ? 'outbound-api' : 'outbound-dial'
      const to = shownUri(callee.to)
      const made = { id, projectId, direction, type, from, to, createdAt: at } as const
      const { statusTarget } = branch.destination
      const told = statusTarget && { statusTarget: { ...statusTarget, dialect: 'form' as const } }
      this.#book?.began({ ...made, ...(parentId !== undefined && { parentId }), ...told })
    }
  }

  #over(
    id: string,
    branch: Branch,
    { outcome, code, callee }: Extract<CalleeState, { kind: 'ended' }>,
  ): void {
    const sipStatus = callee?.sip?.status
    const answered = branch.legs.some(({ times }) => times.answeredAt !== undefined)
    this.#book?.ended(id, {
      status: outcome === 'completed' ? outcome : statusOf(code as Code, answered, 'outbound'),
      endedAt: this.#now(),
      code: code as Code,
      ...(sipStatus !== undefined && { sipStatus }),
    })
  }
}

const statuses: Partial<Record<Code, CallStatus>> = {
  busy: 'busy',
  no_answer: 'no-answer',
  not_online: 'no-answer',
  normal: 'no-answer',
  canceled: 'canceled',
  answered_elsewhere: 'canceled',
  max_duration: 'no-answer',
}

/** What a caller whom we decline is told is no answer; who declines our call is busy, as in the XML family. */
const statusOf = (code: Code, answered: boolean, direction: 'inbound' | 'outbound'): CallStatus => {
  if (answered) return 'completed'
  if (code === 'declined') return direction === 'inbound' ? 'no-answer' : 'busy'
  return statuses[code] ?? 'failed'
}

/** What is asked for, for people: the name or the URL of a document, or a topic. */
export const documentOf = (handler: HandlerSpec): string => {
  if (handler.kind === 'realtime') return handler.topic
  return 'url' in handler ? redactedUrl(handler.url) : handler.name
}
