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
import { browserEvents } from './browser-events.ts'
import { type DebugEvent, debugBody, debugEvents } from './debug-events.ts'
import type { AgentDocument, Json } from './document-types.ts'
import { FunctionSet } from './functions.ts'
import { AgentLog } from './log.ts'
import { nativeFunctions } from './native-functions.ts'
import { conversationFields } from './report.ts'
import type { AgentHost } from './session-host.ts'
import { SlidingWindow } from './session-window.ts'
import { Steps } from './steps.ts'
import { fillText } from './templates.ts'
import { dataLimits, sizeFault } from './values.ts'

/** Maximum number of debug events of one conversation: they are stored until they are delivered. */
const maxDebugEvents = 1000

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
  readonly #browserEvents = browserEvents()
  /** Latest turns, if the model sees only those. */
  readonly #window: SlidingWindow | undefined
  #debugEvents = 0
  /** Number of causes for which the agent is on hold. */
  #holds: number

  constructor(document: AgentDocument, host: AgentHost) {
    this.document = document
    this.host = host
    const { params } = document
    this.steps = new Steps(document.contexts)
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

  /** Present prompt, with replaced placeholders. */
  get prompt(): string {
    const { conscience } = this.document.params
    const parts = [this.#base, this.steps.text, ...(conscience ? [`Remember: ${conscience}`] : [])]
    return this.fill(parts.filter((part) => part !== '').join('\n\n'))
  }

  /** Functions that the model sees now. */
  get shown(): readonly AgentFunction[] {
    const { document, functions, steps } = this
    const own = functions.active(steps.allowed)
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
    const { host, steps, id } = this
    const { vars, call } = host.variables
    return {
      ...vars,
      vars,
      call,
      global_data: this.globalData,
      step_history: { prev: { context: steps.context?.name, step: steps.step?.name } },
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

  /** Replaces the placeholders of a text. */
  fill(text: string): string {
    return fillText(text, this.values)
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
    if (corrections.length > 0) this.#corrections = [...before, ...corrections].slice(-maxHints)
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
    if (debugUrl === undefined || event.level > debugLevel || this.#debugEvents > maxDebugEvents) return
    this.#debugEvents++
    if (this.#debugEvents > maxDebugEvents) {
      this.host.warn(`More than ${maxDebugEvents} debug events: further ones are not sent.`)
      return
    }
    const url = this.fill(debugUrl)
    const text = JSON.stringify(debugBody(this.fields, event))
    this.host.context.notify({
      kind: 'agent-debug',
      url,
      method: 'POST',
      body: { contentType: 'application/json', text },
    })
  }

  /** Takes an event of the conversation: log, debug webhook, browser. */
  receive(event: Parameters<AgentLog['event']>[0]): void {
    this.log.event(event)
    const history = this.#window?.event(event)
    if (history) this.agent?.change({ history })
    for (const debug of debugEvents(event)) this.#debug(debug)
    const { call } = this.host
    if (call.info.type !== 'webrtc' || call.signal.aborted) return
    for (const { type, params } of this.#browserEvents(event)) this.sendToBrowser(params, type)
  }

  /** Sends an event to the caller's browser; the default type is that of events of the customer. */
  sendToBrowser(event: Json, type?: string): void {
    try {
      this.host.call.sendUserEvent(event, type)
    } catch {
      // The event is too large, or the call has ended: the conversation goes on.
    }
  }
}
