import type { AgentEvent, AgentStamps } from '../verbs.ts'
import { BoundedList } from './bounded-list.ts'
import type { Json } from './document-types.ts'
import { moveFunctions } from './function-names.ts'

type Of<K extends AgentEvent['kind']> = Extract<AgentEvent, { readonly kind: K }>

/** Request of a function to a server, and its reply. */
export interface FunctionTrace {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly name: string
  /** Arguments as the model wrote them. */
  readonly args: string
  readonly isNative?: boolean
  /** URL without credentials, query and fragment. */
  readonly url?: string
  readonly request?: unknown
  readonly reply?: unknown
  /** Uses that are left, of a function with a number of uses. */
  readonly usesLeft?: number
}

/** Limits of each list: a conversation can last for hours, and change a long prompt with each turn. */
const limits = { maxItems: 5000, maxCharacters: 2_000_000 }

/** Text in place of what must not be reported. */
const redacted = '----'

/** Log of one conversation in the field names of the report: history, functions, times. */
export class AgentLog {
  readonly #isRedacted: boolean
  readonly #log = new BoundedList<Json>(limits)
  readonly #raw = new BoundedList<Json>(limits)
  readonly #earlier = new BoundedList<readonly Json[]>(limits)
  readonly #functions = new BoundedList<Json>(limits)
  readonly #times = new BoundedList<Json>(limits)
  readonly #timeline = new BoundedList<Json>(limits)
  /** Time of the latest prompt or event, in milliseconds since the epoch. */
  #latest = 0
  /** Interruptions since the caller's last turn. */
  #barges = 0
  /** Tokens of the model since the last answer. */
  #tokens = 0
  #usage = { inputTokens: 0, outputTokens: 0, voiceCharacters: 0, recognisedMs: 0 }

  /** `isRedacted`: prompts are not reported, neither those of contexts, steps and questions. */
  constructor(isRedacted = false) {
    this.#isRedacted = isRedacted
  }

  /** History as the model saw it last. */
  get callLog(): readonly Json[] {
    return this.#log.items
  }

  /**
   * Everything that was said, also answers that the history dropped. It begins with a note if a list of this
   * log was full.
   */
  get rawCallLog(): readonly Json[] {
    const note = this.#note
    const entry = { role: 'system-log', content: note, timestamp: micros(this.#latest) }
    return note === '' ? this.#raw.items : [entry, ...this.#raw.items]
  }

  /** Histories that a reset dropped. */
  get previousContexts(): readonly (readonly Json[])[] {
    return this.#earlier.items
  }

  get functions(): readonly Json[] {
    return this.#functions.items
  }

  get times(): readonly Json[] {
    return this.#times.items
  }

  get timeline(): readonly Json[] {
    return this.#timeline.items
  }

  /** Use of the engines so far. */
  get usage(): Readonly<Record<'inputTokens' | 'outputTokens' | 'voiceCharacters' | 'recognisedMs', number>> {
    return this.#usage
  }

  /** Lists that were full, with the number of their older entries that are missing; empty without one. */
  get #note(): string {
    const lists = {
      call_log: this.#log,
      raw_call_log: this.#raw,
      previous_contexts: this.#earlier,
      swaig_log: this.#functions,
      times: this.#times,
      call_timeline: this.#timeline,
    }
    const full = Object.entries(lists).flatMap(([name, { dropped }]) =>
      dropped > 0 ? [`${dropped} of ${name}`] : [],
    )
    return full.length > 0 ? `Older entries are missing, because the log was full: ${full.join(', ')}.` : ''
  }

  /** Adds a prompt or a message of the system. `at`: milliseconds since the epoch. */
  system(content: string, at: number): void {
    this.#latest = at
    this.#say({ role: 'system', content: this.#hidden(content), timestamp: micros(at) })
  }

  /** Adds a message of a prompt, such as that of the user on entering a context. */
  prompted(role: 'user' | 'assistant', content: string, at: number): void {
    this.message(role, this.#hidden(content), at)
  }

  #hidden(content: string): string {
    return this.#isRedacted ? redacted : content
  }

  /** Adds a remark that the model does not see. */
  remark(content: string, at: number): void {
    this.#raw.push({ role: 'system-log', content, timestamp: micros(at) })
  }

  /** Adds a message of the caller or the agent that was not spoken. */
  message(role: 'user' | 'assistant', content: string, at: number): void {
    this.#say({ role, content, timestamp: micros(at), content_type: 'text' })
  }

  /** Begins a new history; the one before becomes one of {@link previousContexts}. */
  reset(): void {
    const { items, length, characters } = this.#log
    if (length > 0) this.#earlier.push(items, characters)
    this.#log.filter(() => false)
  }

  /** Adds a mark of the timeline. */
  mark(type: string, at: number): void {
    this.#timeline.push({ type, ts: micros(at) })
  }

  /** Adds a request of a function. */
  traced(trace: FunctionTrace): void {
    this.#functions.push(
      defined({
        command_name: trace.name,
        command_arg: trace.args,
        epoch_time: Math.floor(trace.at / 1000),
        native: trace.isNative,
        active_count: trace.usesLeft,
        url: trace.url,
        post_data: trace.request,
        post_response: trace.reply,
      }),
    )
  }

  /** Replaces the latest result of a function in the history. */
  replaceResult(callId: string, content: string): void {
    this.#log.replaceLast(
      (entry) => entry.tool_call_id === callId,
      (entry) => ({ ...entry, content }),
    )
  }

  /** Adds an event of the conversation. */
  event(event: AgentEvent): void {
    this.#latest = event.at
    if (event.kind === 'user') this.#user(event)
    else if (event.kind === 'answer') this.#answer(event)
    else if (event.kind === 'function') this.#function(event)
    else if (event.kind === 'usage') this.#count(event)
    else if (event.kind === 'warning') this.remark(`${event.code}: ${event.message}`, event.at)
    else if (event.kind === 'language') this.remark(`language: ${event.code}`, event.at)
    else if (event.kind !== 'partial' && event.kind !== 'utterance') this.mark(markOf(event), event.at)
    if (event.kind === 'barge' && event.how !== 'given-up') this.#barges++
  }

  #user(event: Of<'user'>): void {
    if (event.merged > 0) this.#forget(event.merged)
    this.mark('user', event.at)
    this.#say(
      defined({
        role: 'user',
        content: event.text,
        timestamp: micros(event.at),
        lang: event.language,
        confidence: event.confidence,
        content_type: { speech: 'speech', keys: 'dtmf', text: 'text' }[event.by],
        start_timestamp: micros(event.startedAt),
        end_timestamp: micros(event.endedAt),
        speaking_to_final_event: event.endedAt === undefined ? undefined : event.at - event.endedAt,
        barge_count: this.#barges || undefined,
        merged: event.merged > 0 || undefined,
        merge_count: event.merged || undefined,
        eot: event.endedBy && { basis: event.endedBy },
      }),
    )
    this.#barges = 0
  }

  /** Drops the latest turns of the caller, and what was answered to them, except results of functions. */
  #forget(turns: number): void {
    let covered = 0
    const dropped = new Set<Json>()
    for (const entry of this.#log.items.toReversed()) {
      if (covered >= turns) break
      if (entry.role === 'user') covered += 1 + Number(entry.merge_count ?? 0)
      if (entry.role === 'user' || (entry.role === 'assistant' && entry.tool_calls === undefined))
        dropped.add(entry)
    }
    this.#log.filter((entry) => !dropped.has(entry))
  }

  #answer(event: Of<'answer'>): void {
    const { stamps, spoken, heard, calls, isBarged, isGivenUp } = event
    this.mark('assistant', event.at)
    const entry = defined({
      role: event.isExact ? 'assistant-manual' : 'assistant',
      content: isBarged ? heard : spoken,
      timestamp: micros(event.at),
      ...latencies(stamps),
      stamps_us: stampsOf(stamps),
      tool_calls: calls.length > 0 ? calls.map(toolCall) : undefined,
      barged: (isBarged && !isGivenUp) || undefined,
      given_up: isGivenUp,
      barge_elapsed_ms: isBarged && !isGivenUp ? event.heardMs : undefined,
      text_heard_approx: isBarged ? heard : undefined,
      text_spoken_total: isBarged ? spoken : undefined,
    })
    if (spoken !== '' || calls.length > 0) this.#say(entry, new Set(calls.map(({ id }) => id)))
    if (spoken === '') return
    this.#times.push(timesOf(event, this.#tokens))
    this.#tokens = 0
  }

  #function({ call, result, durationMs, outcome, at }: Of<'function'>): void {
    this.mark('function_call', at)
    this.#say(
      defined({
        role: 'tool',
        // The results of these functions are instructions of the document.
        content: moveFunctions.has(call.name) ? this.#hidden(result) : result,
        timestamp: micros(at),
        function_name: call.name,
        tool_call_id: call.id,
        execution_latency: durationMs,
        outcome: outcome === 'finished' ? undefined : outcome,
      }),
    )
  }

  #count({ inputTokens, outputTokens, voiceCharacters, recognisedMs }: Of<'usage'>): void {
    const before = this.#usage
    this.#tokens += outputTokens
    this.#usage = {
      inputTokens: before.inputTokens + inputTokens,
      outputTokens: before.outputTokens + outputTokens,
      voiceCharacters: before.voiceCharacters + voiceCharacters,
      recognisedMs: before.recognisedMs + recognisedMs,
    }
  }

  /** Adds an entry. An answer is reported when it was heard: it comes before the results of its calls. */
  #say(entry: Json, calls: ReadonlySet<unknown> = new Set()): void {
    const isResult = ({ role, tool_call_id }: Json): boolean => role === 'tool' && calls.has(tool_call_id)
    for (const list of [this.#log, this.#raw]) {
      if (calls.size > 0) list.insertBefore(isResult, entry)
      else list.push(entry)
    }
  }
}

/** Returns the type of an event in the timeline. */
const markOf = (
  event: Of<'started' | 'ended' | 'speech' | 'barge' | 'filler' | 'attention' | 'hold' | 'unhold'>,
): string => {
  if (event.kind === 'started') return 'ai_start'
  if (event.kind === 'ended') return 'ai_end'
  if (event.kind === 'speech') return event.state === 'began' ? 'speech_start' : 'speech_end'
  if (event.kind === 'barge' && event.how === 'given-up') return 'given_up'
  return event.kind
}

/** Returns a time in microseconds, as reports have it. */
export const micros = <T extends number | undefined>(ms: T): T =>
  (ms === undefined ? undefined : Math.round(ms * 1000)) as T

/** Returns an object without its undefined members. */
export const defined = (of: Json): Json =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined))

const toolCall = ({ id, name, args }: Of<'function'>['call']): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

/** Returns the milliseconds between two stamps; undefined unless both were measured. */
const between = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.round((to - from) / 1000)

const latencies = ({ requestSent, firstToken, firstUtterance, firstAudio, lastWordEnd }: AgentStamps) => ({
  latency: between(requestSent, firstToken),
  utterance_latency: between(requestSent, firstUtterance),
  audio_latency: between(requestSent, firstAudio),
  acoustic_latency: between(lastWordEnd, firstAudio),
  eos_to_push_latency: between(lastWordEnd, requestSent),
})

const stampsOf = (stamps: AgentStamps): Json | undefined => {
  const named = defined({
    speech_start: stamps.speechStart,
    last_word_end: stamps.lastWordEnd,
    suspected_end: stamps.suspectedEnd,
    turn_decided: stamps.turnDecided,
    status_pushed: stamps.requestSent,
    first_token: stamps.firstToken,
    first_utterance: stamps.firstUtterance,
    first_audio: stamps.firstAudio,
  })
  return Object.keys(named).length > 0 ? named : undefined
}

/** Returns the times of an answer, in seconds. `tokens`: 0 if unknown. */
const timesOf = ({ spoken, stamps }: Of<'answer'>, tokens: number): Json => {
  const answer = between(stamps.requestSent, stamps.firstAudio)
  const token = between(stamps.requestSent, stamps.firstToken)
  return defined({
    response: spoken,
    response_word_count: spoken.split(/\s+/).filter(Boolean).length,
    answer_time: answer === undefined ? undefined : answer / 1000,
    token_time: token === undefined ? undefined : token / 1000,
    tokens: tokens || undefined,
  })
}
