import type { ConversationHold } from '../common/conversation-hold.ts'
import { wait, within } from '../common/timers.ts'
import type { AgentCommands, AgentEnd, AgentEvent, AgentMessage } from '../verbs.ts'
import type { AgentDocument, HistoryReset, Json } from './document-types.ts'
import { earlierConversation } from './session-earlier.ts'
import { Effects } from './session-effects.ts'
import { EndHooks } from './session-end-hooks.ts'
import { FunctionRunner } from './session-functions.ts'
import { FurtherServers } from './session-further.ts'
import { sessionHold } from './session-hold.ts'
import type { AgentHost, SessionEnd } from './session-host.ts'
import { Leaving } from './session-leaving.ts'
import { Moves } from './session-moves.ts'
import { agentOptions, initialAttention } from './session-options.ts'
import { reportEnd } from './session-report.ts'
import { SessionState } from './session-state.ts'

export type { ActionResult, AgentHost, AgentMemory, SessionEnd } from './session-host.ts'

/**
 * Maximum wait before the agent starts for the functions of other servers, and for the earlier conversation,
 * in milliseconds.
 */
const maxLoadingMs = 2000

/** Voice agent of a document on one call: it runs functions, and carries out what their replies want. */
export class AgentSession implements AgentCommands {
  readonly #state: SessionState
  readonly #moves: Moves
  readonly #leaving: Leaving
  readonly #hold: ConversationHold
  readonly #further: FurtherServers
  readonly #effects: Effects
  readonly #runner: FunctionRunner
  #startedAt = 0
  #hasSpoken = false

  constructor(document: AgentDocument, host: AgentHost) {
    const state = new SessionState(document, host)
    this.#state = state
    this.#moves = new Moves(state)
    this.#leaving = new Leaving(state)
    this.#hold = sessionHold(state, this.#leaving)
    this.#further = new FurtherServers(state)
    const parts = { moves: this.#moves, hold: this.#hold, leaving: this.#leaving }
    this.#effects = new Effects(state, parts)
    this.#runner = new FunctionRunner(state, {
      moves: this.#moves,
      effects: this.#effects,
      native: this.#native,
      further: this.#further,
    })
  }

  /**
   * Runs the agent to its end. Rejects with `VerbFailed` if it cannot start, and with `CallEnded` if the call
   * ends before. The report is sent after the end, in the background.
   */
  async run(): Promise<SessionEnd> {
    const { host } = this.#state
    const end = await this.#converse()
    void this.#report(end)
    await this.#effects.idle()
    const { kind } = this.#leaving
    if (kind === 'hangup' && !host.call.signal.aborted) await host.call.hangup()
    return { end, hasLeft: kind === 'leave' }
  }

  /** Calls the functions of the end, and sends the report. Never rejects. */
  async #report(end: AgentEnd): Promise<void> {
    const endHooks = new EndHooks(this.#state, this.#runner)
    try {
      await reportEnd(this.#state, { moves: this.#moves, endHooks }, { end, startedAt: this.#startedAt })
    } catch (error) {
      this.#fault('The report of the agent could not be made', error)
    }
    await endHooks.done()
    await this.#further.close()
  }

  /** Adds a message from outside; the model answers one of the user or the system. Never rejects. */
  async message(
    message: AgentMessage,
    more: { readonly reset?: HistoryReset; readonly globalData?: Json } = {},
  ): Promise<void> {
    try {
      await this.#message(message, more)
    } catch (error) {
      this.#fault('The message to the agent failed', error)
    }
  }

  async #message(
    message: AgentMessage,
    more: { readonly reset?: HistoryReset; readonly globalData?: Json },
  ): Promise<void> {
    const state = this.#state
    if (state.isOver) return
    if (more.globalData) state.addGlobalData(more.globalData)
    if (more.reset) await this.#moves.reset(more.reset)
    if (state.isOver) return
    state.refresh()
    if (message.content !== '') state.message(message, message.role !== 'assistant')
  }

  /**
   * Puts the conversation on hold for some seconds at most, after what the agent is saying. It speaks the
   * prompt before, word for word.
   */
  hold(seconds: number, prompt?: string): void {
    this.#hold.begin(seconds, { prompt })
  }

  /** Ends a hold. The model answers the prompt. */
  unhold(prompt?: string): void {
    this.#hold.end()
    if (prompt) this.#state.message({ role: 'system', content: prompt }, true)
  }

  /** Ends the conversation after the agent's last words. */
  stop(): void {
    this.#leaving.begin('stop')
  }

  #fault(what: string, error: unknown): void {
    this.#state.host.warn(`${what}: ${error instanceof Error ? error.message : 'unknown'}`)
  }

  /** Runs the conversation to its end. Whatever happens, nothing has an effect afterwards. */
  async #converse(): Promise<AgentEnd> {
    const { timers } = this.#state.host
    try {
      const [earlier] = await Promise.all([
        within(timers, maxLoadingMs, earlierConversation(this.#state)),
        within(timers, maxLoadingMs, this.#further.load()),
      ])
      await this.#start(earlier)
      return await this.#ended()
    } catch (error) {
      void this.#further.close()
      throw error
    } finally {
      this.#hold.end()
      this.#state.finish()
    }
  }

  /** `earlier`: what is known of earlier conversations. */
  async #start(earlier: string | undefined): Promise<void> {
    const state = this.#state
    const { host, document } = state
    const options = agentOptions(state, earlier)
    state.refresh()
    this.#startedAt = host.context.now()
    state.log.system(options.prompt, this.#startedAt)
    state.agent = await host.call.startAgent({
      ...options,
      runFunction: (call, signal) => this.#runner.run(call, signal),
      onEvent: (event) => this.#told(event),
      commands: this,
      ...(host.stop && { signal: host.stop }),
    })
    // Functions of other servers, and changes of early functions.
    state.refresh()
    state.debug('session_start', {})
    const { background } = document.params
    if (background) state.agent.background({ ...background, url: state.fill(background.url) })
    void this.#runner.hook('start')
    this.#poll()
  }

  /** Resolves at the end of the agent, or if it does not end although it was stopped. */
  #ended(): Promise<AgentEnd> {
    const gaveUp = this.#leaving.gaveUp.then((): AgentEnd => ({ kind: 'stopped' }))
    return Promise.race([this.#state.agent?.ended ?? gaveUp, gaveUp])
  }

  /** Asks the customer's server for input again and again. */
  #poll(): void {
    const { functions, over, document, host } = this.#state
    if (!functions.hasHook('poll') || over.aborted) return
    const again = async () => {
      await wait(host.timers, document.params.inputPollMs, over)
      if (over.aborted) return
      await this.#runner.hook('poll')
      this.#poll()
    }
    void again()
  }

  #told(event: AgentEvent): void {
    const state = this.#state
    if (event.kind === 'language') this.#moves.speaks(event.code)
    if (event.kind === 'user') this.#answeredCall()
    state.receive(event)
    if (event.kind === 'function') {
      const kept = this.#runner.takeKept(event.call.id)
      if (kept !== undefined) state.log.replaceResult(event.call.id, kept)
    }
    if (event.kind === 'answer' && isOfStep(event)) void this.#moves.answered()
  }

  /** The other side has spoken: the silence that outbound calls allow before is over. */
  #answeredCall(): void {
    if (this.#hasSpoken) return
    this.#hasSpoken = true
    const state = this.#state
    const { attentionMs } = state.document.turns
    if (initialAttention(state) !== attentionMs) state.changeTurns({ attentionMs })
  }

  get #native() {
    const state = this.#state
    const { host, document } = state
    return {
      timeZone: document.params.timeZone,
      now: () => host.context.now(),
      hangup: () => this.#leaving.begin('hangup'),
      wait: (ms: number, signal: AbortSignal) => wait(host.timers, ms, signal),
      waitForUser: () => state.agent?.waitForUser(),
      setEndOfSpeech: (endOfSpeechMs: number) => state.changeTurns({ endOfSpeechMs }),
      pause: (seconds: number) => this.#hold.begin(seconds),
    }
  }
}

/**
 * Whether an answer is the model's complete one in the present step. Exact texts, such as a filler on the way
 * to the step, are not. An answer with calls precedes what they do, for instance the way to the step.
 */
const isOfStep = ({ isBarged, isExact, spoken, calls }: Extract<AgentEvent, { kind: 'answer' }>): boolean =>
  !isBarged && !isExact && spoken !== '' && calls.length === 0

/** Runs the agent of a document to its end; see {@link AgentSession.run}. */
export const runAgent = (document: AgentDocument, host: AgentHost): Promise<SessionEnd> =>
  new AgentSession(document, host).run()
