import { randomUUID } from 'node:crypto'
import type {
  AgentChange,
  AgentFunction,
  AgentMessage,
  AgentModelSettings,
  AgentRewrite,
  AgentTurnSettings,
  CallAgent,
} from '../verbs.ts'
import { type DebugEvent, debugBody, debugEvents } from './debug-events.ts'
import type { AgentDocument, Json } from './document-types.ts'
import { FunctionSet } from './functions.ts'
import { AgentLog } from './log.ts'
import { nativeFunctions } from './native-functions.ts'
import { conversationFields } from './report.ts'
import type { AgentHost } from './session-host.ts'
import { sendLater } from './session-notify.ts'
import { SlidingWindow } from './session-window.ts'
import { StepHistory } from './step-history.ts'
import { Steps } from './steps.ts'
import { fillText } from './templates.ts'
import { transcriptEvents } from './transcript-events.ts'
import { dataLimits, sizeFault } from './values.ts'

/** Maximum number of hints of a conversation, and of corrections. */
const maxHints = 1000

/**
 * State of one conversation: its prompt, the functions that are on, and the data. The parts of the session
 * change it, and {@link refresh} passes the change on to the agent.
 */
export class SessionState {
  readonly document: AgentDocument
  readonly host: AgentHost
  readonly id = randomUUID()
  readonly functions = new FunctionSet()
  readonly steps: Steps
  readonly stepHistory: StepHistory
  readonly log: AgentLog
  /** Running agent; undefined before its start. */
  agent: CallAgent | undefined
  readonly #over = new AbortController()
  globalData: Json
  /** Hints and corrections of the document, and those that functions added. */
  #hints: readonly string[]
  #corrections: readonly AgentRewrite[]
  /** Prompt of the document, or the one that replaced it. */
  #base: string
  #shown: { readonly prompt: string; readonly functions: string } | undefined
  readonly #transcript = transcriptEvents()
  /** Latest turns, if the model sees only those. */
  readonly #window: SlidingWindow | undefined
  /** Number of causes for which the agent is on hold. */
  #holds: number
  /**
   * Time of clocks in what the model sees, in milliseconds since the epoch. With another one, each refresh
   * would change the prompt, and some engines open their sessions again for that.
   */
  readonly #since: number

  constructor(document: AgentDocument, host: AgentHost) {
    this.document = document
    this.host = host
    this.#since = host.context.now()
    const { params } = document
    this.steps = new Steps(document.contexts)
    this.stepHistory = new StepHistory(document)
    this.log = new AgentLog(params.redact)
    const kept = params.persistGlobalData ? host.memory.globalData : undefined
    this.globalData = { ...document.globalData, ...kept }
    this.#holds = Number(params.isPaused)
    const { slidingWindow, history } = params
    this.#window = slidingWindow === undefined ? undefined : new SlidingWindow(slidingWindow, history)
    this.#hints = document.hints
    this.#corrections = document.corrections
    this.#base = document.prompt.text
    this.addFunctions(document.functions)
  }

  /** Fires at the end of the conversation: nothing has an effect any more. */
  get over(): AbortSignal {
    return this.#over.signal
  }

  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  /** Ends the conversation, and keeps its global data for the next agent of the call. */
  finish(): void {
    this.#over.abort()
    if (this.document.params.persistGlobalData) this.host.memory.globalData = this.globalData
  }

  /** Present prompt, with replaced placeholders. Its clocks show the begin of the conversation. */
  get prompt(): string {
    const { conscience } = this.document.params
    const parts = [this.#base, this.steps.text, ...(conscience ? [`Remember: ${conscience}`] : [])]
    return this.fill(parts.filter((part) => part !== '').join('\n\n'), this.#since)
  }

  /** Functions that the model sees now. */
  get shown(): readonly AgentFunction[] {
    const { document, functions, steps } = this
    const own = functions.active(steps.allowed).map((of) => {
      const { waitSound } = of
      return waitSound
        ? { ...of, waitSound: { ...waitSound, url: this.fill(waitSound.url, this.#since) } }
        : of
    })
    const moves = steps.functions.map((of) => {
      const { [of.name]: fillers } = document.internalFillers
      return fillers ? { ...of, fillers } : of
    })
    return [...own, ...moves, ...this.#natives]
  }

  get #natives(): readonly AgentFunction[] {
    const { document, functions } = this
    return nativeFunctions({
      named: document.nativeFunctions,
      canPause: document.params.canPause,
      isOff: (name) => functions.isOff(name),
      // A function of the document replaces the built-in one of its name.
      fillers: document.internalFillers,
    }).filter(({ name }) => functions.get(name) === undefined)
  }

  /** Instruction for the summary; undefined if the document has none. */
  get postPrompt(): string | undefined {
    const text = this.steps.context?.postPrompt ?? this.document.postPrompt?.text
    return text ? this.fill(text) : undefined
  }

  /** Values that placeholders can name. */
  get values(): Json {
    const { host, stepHistory, id } = this
    const { vars, call } = host.variables
    return {
      ...vars,
      vars,
      call,
      global_data: this.globalData,
      step_history: stepHistory.value,
      call_id: host.call.info.callId,
      ai_session_id: id,
      caller_id_num: host.call.info.fromUser,
      caller_id_name: host.call.info.fromName,
    }
  }

  /** Fields of requests about the conversation. */
  get fields(): Json {
    const { host, id, document } = this
    const { info } = host.call
    return conversationFields({ info, spaceId: host.spaceId, sessionId: id, params: document.params })
  }

  /** Time-out of requests that run functions; that of documents before the agent has started. */
  get functionTimeout(): { readonly timeoutMs?: number } {
    return this.agent ? { timeoutMs: this.agent.functionTimeoutMs } : {}
  }

  /** Replaces the placeholders of a text. `at`: time of its clocks; default now. */
  fill(text: string, at = this.host.context.now()): string {
    return fillText(text, this.values, at)
  }

  addFunctions(definitions: AgentDocument['functions']): void {
    const rejected = this.functions.add(definitions)
    if (rejected.length > 0)
      this.host.warn(`The functions ${rejected.join(', ')} are left out: their names are taken.`)
  }

  /** Replaces the prompt of the document. */
  replacePrompt(text: string): void {
    this.#base = text
  }

  /** Passes on prompt and functions if they have changed. */
  refresh(): void {
    const { prompt, shown } = this
    const functions = JSON.stringify(shown)
    const before = this.#shown
    this.#shown = { prompt, functions }
    if (!before) return
    const change = {
      ...(prompt !== before.prompt && { prompt }),
      ...(functions !== before.functions && { functions: shown }),
    }
    if (Object.keys(change).length === 0) return
    if (change.prompt !== undefined) this.log.system(change.prompt, this.host.context.now())
    this.change(change)
  }

  change(change: AgentChange): void {
    if (change.history) this.#window?.replace(change.history)
    this.agent?.change(change)
  }

  /** Adds hints and corrections; undefined removes those that were added. */
  changeHints(
    added: (Pick<AgentDocument, 'hints'> & Partial<Pick<AgentDocument, 'corrections'>>) | undefined,
  ): void {
    const { document } = this
    const before = this.#corrections
    const { hints, corrections = [] } = added ?? { hints: [] }
    // A function that adds the same hints again and again must not fill the recogniser.
    this.#hints = added ? [...new Set([...this.#hints, ...hints])].slice(-maxHints) : document.hints
    if (corrections.length > 0) this.#corrections = distinct([...before, ...corrections]).slice(-maxHints)
    else if (!added) this.#corrections = document.corrections
    const isChanged = this.#corrections !== before
    this.change({ hints: this.#hints, ...(isChanged && { corrections: this.#corrections }) })
  }

  /** Puts the agent on hold for one more cause, for instance a script that runs on the call. */
  hold(): void {
    if (this.#holds++ === 0) this.agent?.hold()
  }

  /** Removes one cause of a hold; the last one ends it. */
  unhold(): void {
    if (--this.#holds === 0) this.agent?.unhold()
  }

  /** Adds a message to the conversation; `respond`: whether the model answers it now. */
  message(message: AgentMessage, respond: boolean): void {
    // A turn of the user comes back as an event.
    if (message.role !== 'user' || !respond) this.#window?.add(message)
    this.agent?.message(message, respond)
  }

  changeTurns(turns: Partial<AgentTurnSettings>): void {
    this.change({ turns })
  }

  changeModel(modelSettings: AgentModelSettings): void {
    this.change({ modelSettings })
  }

  /** Sends an event to the debug webhook, if the document wants its level. */
  debug(name: string, value: Json, level: 1 | 2 = 1): void {
    this.#debug({ name, value, level })
  }

  /** Replaces the global data. Data beyond the limits is refused with a warning. */
  setGlobalData(data: Json): void {
    const size = sizeFault(data, dataLimits)
    if (size === undefined) this.globalData = data
    else this.host.warn(`The global data ${size}: it stays as it was.`)
  }

  /** Adds members to the global data, within its limits. */
  addGlobalData(data: Json): void {
    this.setGlobalData({ ...this.globalData, ...data })
  }

  #debug(event: DebugEvent): void {
    const { debugUrl, debugLevel } = this.document.params
    if (!debugUrl || event.level > debugLevel) return
    const body = debugBody(this.fields, event)
    // An event that cannot be delivered is lost: it must not take room from reports.
    sendLater(this, { kind: 'agent-debug', url: debugUrl.url, body, isBestEffort: true })
  }

  /** Takes an event of the conversation: log, debug webhook, readers of the transcript. */
  receive(event: Parameters<AgentLog['event']>[0]): void {
    this.log.event(event)
    const history = this.#window?.event(event)
    if (history) this.agent?.change({ history })
    for (const debug of debugEvents(event)) this.#debug(debug)
    const { call, onTranscript } = this.host
    for (const each of this.#transcript(event)) {
      onTranscript?.(each)
      call.reportTranscript(each)
    }
  }

  /** Sends an event of the customer to the caller's browser. */
  sendToBrowser(event: Json): void {
    try {
      this.host.call.sendUserEvent(event)
    } catch {
      // The event is too large, or the call has ended: the conversation goes on.
    }
  }
}

/** Returns rules without repetitions; the latest of equal ones stays. */
const distinct = (rules: readonly AgentRewrite[]): readonly AgentRewrite[] => {
  const byContent = new Map<string, AgentRewrite>()
  for (const rule of rules) {
    const key = JSON.stringify([rule.replace, rule.with, rule.ignoreCase, rule.isPattern ?? false])
    byContent.delete(key)
    byContent.set(key, rule)
  }
  return [...byContent.values()]
}
