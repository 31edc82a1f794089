import type { SteadyClock, Timer } from '../core/clock.ts'
import { canCatchUp, catchUp } from './catch-up.ts'
import type {
  Engine,
  EngineChange,
  EngineFailure,
  EngineLink,
  EngineListener,
  EngineRequest,
} from './engine.ts'

/** Events of the session that hears the caller. */
export type SeatListener = Omit<EngineListener, 'onReady' | 'onClosing' | 'onFailure'>

/** Conversation for which a seat keeps an engine. */
export interface SeatOwner {
  /** Receives the events of the present session. Not read before the first one. */
  readonly listener: SeatListener
  /** Returns the state of the conversation for a new session. */
  request(): EngineRequest
  /** The session that hears the caller is ready. Called once per session. */
  onSeated(link: EngineLink): void
  /** The session that heard the caller is closed: nothing follows of its answers. */
  onLost(): void
  /** A session failed; another one may follow. */
  onFailure(engine: Engine, failure: EngineFailure): void
  /** No engine is left. Nothing follows. */
  onEmpty(failure: EngineFailure): void
  /** Whether neither side speaks: a good time for a new session. */
  readonly isQuiet: boolean
}

/** Session with its engine. */
interface Session {
  readonly engine: Engine
  readonly link: EngineLink
  /** State of the conversation with which it was opened. */
  readonly request: EngineRequest
  /** Uptime in ms at which it was ready. */
  readyAt?: number
  /** Whether its events count. */
  isSeated: boolean
  limit?: Timer
}

/** Time before the end of a session at which the next one is opened, in ms. */
const rotateBeforeMs = 30_000
/** Latest time before the end of a session at which the next one is used, in ms. */
const switchBeforeMs = 2_000
/** Maximum wait for a silence before a session with changes is used, in ms. */
const maxRefreshMs = 2_000
/** Wait after a failed refresh, in ms. */
const retryRefreshMs = 5_000
/** Interval in which a ready session waits for a silence, in ms. */
const quietPollMs = 100
/** Failures of one engine after which it is not tried again. */
const maxFailures = 2
/** Time after which a session counts as stable: its failure is a new one, in ms. */
const stableMs = 10_000
/** Maximum wait for a session to be ready, in ms. */
const maxOpeningMs = 5_000

/**
 * Seat of the engine in one conversation. Sessions end: by the engine's limit, with a warning before, or by a
 * failure. The seat opens the next one with the history, and changes over in a silence. After a failure it
 * tries the same engine once more, unless the engine refused, and then the next engine of the list.
 */
export class EngineSeat {
  readonly #engines: Engine[]
  readonly #owner: SeatOwner
  readonly #clock: SteadyClock
  #present: Session
  #next: Session | undefined
  #failures = 0
  /** Whether the prompt and functions of the session are old. */
  #isRefreshDue = false
  #timer: Timer | undefined
  #isOver = false

  /** `engines`: at least one, in order of preference. Opens the first session. */
  constructor(engines: readonly Engine[], owner: SeatOwner, clock: SteadyClock) {
    this.#engines = [...engines]
    this.#owner = owner
    this.#clock = clock
    this.#present = this.#open()
    this.#present.isSeated = true
  }

  /** Session that hears the caller. */
  get link(): EngineLink {
    return this.#present.link
  }

  get engine(): Engine {
    return this.#present.engine
  }

  /** Whether the session that hears the caller is ready. */
  get isReady(): boolean {
    return this.#present.readyAt !== undefined
  }

  /**
   * Replaces the session by a new one of the same engine. `isFault`: its silence counts as a failure of the
   * engine. A session that is being opened stays: it has a limit of its own.
   */
  renew(reason: string, isFault: boolean): void {
    if (!this.isReady) return
    this.#failed(this.#present, { kind: 'timeout', message: reason, part: this.engine.name }, isFault)
  }

  /** Changes the session. One that cannot is replaced by one with the present state. */
  change(change: EngineChange): void {
    const { changes, changesHistory } = this.link.abilities
    const canChange = changes && (changesHistory || !change.history)
    if (canChange) this.link.change(change)
    else this.refresh()
  }

  /** Replaces the session by one with the present prompt and functions, in a silence or after 2 s. */
  refresh(): void {
    if (this.#isOver) return
    this.#isRefreshDue = true
    if (this.#next) {
      this.#shut(this.#next)
      this.#next = this.#open()
    }
    this.#rotate(this.#present, switchBeforeMs + maxRefreshMs)
  }

  close(): void {
    this.#isOver = true
    this.#timer?.cancel()
    for (const session of [this.#present, this.#next]) if (session) this.#shut(session)
  }

  #open(): Session {
    const engine = this.#engines[0]!
    const request = this.#owner.request()
    // The listener is not called before `open` has returned.
    const link = engine.open(
      request,
      this.#listenerOf(() => session),
    )
    const session: Session = { engine, link, request, isSeated: false }
    session.limit = this.#clock.after(maxOpeningMs, () =>
      this.#failed(session, {
        kind: 'timeout',
        message: 'The session was not ready in time.',
        part: engine.name,
      }),
    )
    return session
  }

  #listenerOf(sessionOf: () => Session): EngineListener {
    const owner = this.#owner
    const ifSeated =
      <A extends readonly unknown[]>(handle: (...args: A) => void) =>
      (...args: A): void => {
        if (sessionOf().isSeated && !this.#isOver) handle(...args)
      }
    return {
      onReady: () => this.#ready(sessionOf()),
      onClosing: (inMs) => this.#rotate(sessionOf(), inMs),
      onFailure: (failure) => this.#failed(sessionOf(), failure),
      onHeard: ifSeated((heard) => owner.listener.onHeard(heard)),
      onTurn: ifSeated((state, isInferred) => owner.listener.onTurn(state, isInferred)),
      onAnswer: ifSeated((answer, isText) => owner.listener.onAnswer(answer, isText)),
      onAudio: ifSeated((answer, item, samples) => owner.listener.onAudio(answer, item, samples)),
      onText: ifSeated((answer, item, text) => owner.listener.onText(answer, item, text)),
      onItemEnd: ifSeated((answer, item) => owner.listener.onItemEnd(answer, item)),
      onCall: ifSeated((answer, call) => owner.listener.onCall(answer, call)),
      onCallsCancelled: ifSeated((ids) => owner.listener.onCallsCancelled(ids)),
      onAnswerEnd: ifSeated((answer, how) => owner.listener.onAnswerEnd(answer, how)),
      onInterrupted: ifSeated(() => owner.listener.onInterrupted()),
      onUsage: ifSeated((usage) => owner.listener.onUsage(usage)),
      onFirstToken: ifSeated((answer) => owner.listener.onFirstToken(answer)),
      onWarning: ifSeated((code, message) => owner.listener.onWarning(code, message)),
    }
  }

  #ready(session: Session): void {
    if (this.#isOver || session.readyAt !== undefined) return
    session.readyAt = this.#clock.uptime()
    session.limit?.cancel()
    const { longestMs } = session.link.abilities
    if (longestMs !== undefined)
      session.limit = this.#clock.after(Math.max(0, longestMs - rotateBeforeMs), () =>
        this.#rotate(session, rotateBeforeMs),
      )
    if (session === this.#present) this.#owner.onSeated(session.link)
  }

  /** Opens the next session, because the present one ends in `inMs`. */
  #rotate(session: Session, inMs: number): void {
    if (this.#isOver || session !== this.#present || this.#next || this.#engines.length === 0) return
    this.#next = this.#open()
    this.#waitForSilence(Math.max(0, inMs - switchBeforeMs))
  }

  #waitForSilence(leftMs: number): void {
    const next = this.#next
    if (this.#isOver || !next) return
    if (next.readyAt !== undefined) {
      const isCurrent = this.#isCurrent(next)
      if (leftMs <= 0 || (isCurrent && this.#owner.isQuiet)) {
        this.#next = undefined
        this.#sit(next)
        return
      }
      if (!isCurrent) {
        // Something that this session began with is no longer true: another one has to begin with the truth.
        this.#shut(next)
        this.#next = this.#open()
      }
    }
    // The wait after a failed refresh may still run.
    this.#timer?.cancel()
    this.#timer = this.#clock.after(quietPollMs, () => this.#waitForSilence(leftMs - quietPollMs))
  }

  #sit(session: Session): void {
    this.#shut(this.#present)
    this.#owner.onLost()
    if (this.#isOver) {
      this.#shut(session)
      return
    }
    this.#take(session)
    this.#owner.onSeated(session.link)
  }

  /** Uses a session that was opened before. */
  #take(session: Session): void {
    const isCurrent = this.#isCurrent(session)
    this.#present = session
    this.#isRefreshDue = false
    session.isSeated = true
    catchUp(session.link, session.request, this.#owner.request())
    if (!isCurrent) this.refresh()
  }

  /** Whether a session that was opened before can learn the present state of the conversation. */
  #isCurrent({ link, request }: Session): boolean {
    return canCatchUp(link, request, this.#owner.request())
  }

  #failed(session: Session, failure: EngineFailure, isCounted = true): void {
    if (this.#isOver || (session !== this.#present && session !== this.#next)) return
    this.#shut(session)
    this.#owner.onFailure(session.engine, failure)
    if (session === this.#next) {
      this.#nextFailed()
      return
    }
    if (isCounted) this.#count(session, failure)
    const prepared = this.#next
    this.#next = undefined
    this.#timer?.cancel()
    this.#owner.onLost()
    // The lost words may have been the last ones.
    if (this.#isOver) {
      if (prepared) this.#shut(prepared)
      return
    }
    if (prepared?.readyAt !== undefined) this.#sit(prepared)
    else if (this.#engines.length === 0) {
      this.#isOver = true
      if (prepared) this.#shut(prepared)
      this.#owner.onEmpty(failure)
    } else if (prepared && this.#isCurrent(prepared)) this.#take(prepared)
    else {
      if (prepared) this.#shut(prepared)
      this.#present = this.#open()
      this.#present.isSeated = true
    }
  }

  /** The prepared session failed. The present one still works, so its engine does not count as failed. */
  #nextFailed(): void {
    this.#next = undefined
    this.#timer?.cancel()
    if (!this.#isRefreshDue) return
    this.#timer = this.#clock.after(retryRefreshMs, () => {
      if (this.#isRefreshDue) this.refresh()
    })
  }

  /**
   * Removes an engine that refused, or failed twice. The end of a stable session starts a new count. A silent
   * engine is not waited for twice if there is another one: the caller waits, too.
   */
  #count({ engine, readyAt }: Session, { kind }: EngineFailure): void {
    const isStable = readyAt !== undefined && this.#clock.uptime() - readyAt >= stableMs
    this.#failures = isStable ? 1 : this.#failures + 1
    const isSilent = kind === 'timeout' && this.#engines.length > 1
    const isHopeless = kind === 'unauthorised' || kind === 'refused' || isSilent
    if (!isHopeless && this.#failures < maxFailures) return
    this.#failures = 0
    const at = this.#engines.indexOf(engine)
    if (at >= 0) this.#engines.splice(at, 1)
  }

  #shut(session: Session): void {
    session.isSeated = false
    session.limit?.cancel()
    session.link.close()
  }
}
