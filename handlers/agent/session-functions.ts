import { within } from '../common/timers.ts'
import { redactedUrl } from '../common/urls.ts'
import type { AgentFunctionCall, AgentFunctionResult } from '../verbs.ts'
import { runDataMap } from './data-map.ts'
import { dataMapEvents } from './debug-events.ts'
import type { FunctionDefinition, FunctionReply, Json } from './document-types.ts'
import { changeContext, gatherSubmit, type Hook, nextStep } from './function-names.ts'
import { readReply } from './function-reply.ts'
import { argumentsFor, type FunctionArguments, functionRequest, readArguments } from './function-request.ts'
import { type NativeTools, runNative } from './native-functions.ts'
import type { EffectResult, Effects } from './session-effects.ts'
import { failedReply } from './session-failure.ts'
import type { Moves } from './session-moves.ts'
import { requestFacts } from './session-requests.ts'
import type { SessionState } from './session-state.ts'
import { dataLimits, sizeFault, textOf } from './values.ts'

/** Maximum duration of a function, in milliseconds. */
const maxFunctionMs = 60_000

/** Time after which the model no longer waits for the actions of a reply, in milliseconds. */
const maxActionsMs = 5000

/** Time before the end of a function at which the model no longer waits either: a later result is dropped. */
const lastActionsMs = 1000

/** Text for the model after actions that took long. */
const resumed = 'The actions of the function have ended. Go on.'

/** Beginning of a reply beyond the limits that the log keeps, in characters. */
const maxLoggedLength = 1000

/** Maximum length of a text for the model, in characters. */
const maxTextLength = 16_384

/** Server of further functions, such as those of the Model Context Protocol. */
export interface FurtherFunctions {
  /** Whether a function is one of this server. */
  has(name: string): boolean
  /** Runs a function; undefined if it is not one of this server. Never rejects. */
  run(name: string, args: Json, signal: AbortSignal): Promise<FunctionReply> | undefined
}

/** Collaborators of {@link FunctionRunner}. */
export interface FunctionDeps {
  readonly moves: Moves
  readonly effects: Effects
  readonly native: NativeTools
  readonly further: FurtherFunctions
}

/** Call of a function of the document. */
interface Request {
  readonly of: FunctionDefinition
  readonly args: FunctionArguments
  readonly signal: AbortSignal
  /** Uses that are left after this one; undefined without a limit. */
  readonly usesLeft?: number | undefined
  /** Whether it is one of countless polls: the log contains only those with a result. */
  readonly isPoll?: boolean
}

/** Runs the functions that the model or the session calls. */
export class FunctionRunner {
  readonly #state: SessionState
  readonly #deps: FunctionDeps
  /** Texts that the history keeps of calls, by id. */
  readonly #kept = new Map<string, string>()

  constructor(state: SessionState, deps: FunctionDeps) {
    this.#state = state
    this.#deps = deps
  }

  /** Takes the text that the history keeps of a call in place of its result; undefined: the result. */
  takeKept(callId: string): string | undefined {
    const kept = this.#kept.get(callId)
    this.#kept.delete(callId)
    return kept
  }

  /** Runs a function for the model. Never rejects: a failure is a text for the model. */
  async run(call: AgentFunctionCall, signal: AbortSignal): Promise<AgentFunctionResult> {
    if (this.#state.isOver) return { text: 'The conversation is over.', respond: false }
    const args = readArguments(call.args)
    try {
      if (args.isFaulty) return { text: 'The arguments are not a JSON object. Call the function again.' }
      return await this.#run(call, args, signal)
    } catch (error) {
      this.#warn(call.name, error)
      return { text: 'The function failed.' }
    }
  }

  /**
   * Calls the function that the document has for an occasion, and carries out its actions. Has no effect
   * without one. Never rejects.
   */
  async hook(hook: Hook, args: Json = {}): Promise<void> {
    const of = this.#state.functions.hook(hook)
    if (!of) return
    try {
      const given = argumentsFor(args)
      const isPoll = hook === 'poll'
      const reply = await this.#inTime({ of, args: given, signal: this.#state.over, isPoll })
      if (reply) this.#finishLate(await this.#deps.effects.carryOut(reply.effects, of))
    } catch (error) {
      this.#warn(of.name, error)
    }
  }

  /** Whether a function runs by a request to a webhook. */
  isByWebhook({ name, dataMap }: FunctionDefinition): boolean {
    return dataMap === undefined && !this.#deps.further.has(name)
  }

  /**
   * Runs the data map or the tool of a function after the conversation. Nothing is done with its reply. Never
   * rejects.
   */
  async afterEnd(of: FunctionDefinition, args: Json): Promise<void> {
    const { timers } = this.#state.host
    const over = new AbortController()
    const given = argumentsFor(args)
    try {
      await within(timers, maxFunctionMs, this.#replyOf({ of, args: given, signal: over.signal }))
    } catch (error) {
      this.#warn(of.name, error)
    } finally {
      over.abort()
    }
  }

  async #run(
    call: AgentFunctionCall,
    args: FunctionArguments,
    signal: AbortSignal,
  ): Promise<AgentFunctionResult> {
    const state = this.#state
    const { name } = call
    const own = state.functions.get(name)
    if (!own) return this.#builtIn(name, args, signal)
    const isPermitted = state.steps.allowed?.includes(name) ?? true
    const usesLeft = isPermitted ? state.functions.use(name) : 'off'
    if (usesLeft === 'off') return { text: `The function ${name} is not available now.` }
    if (usesLeft === 0) state.refresh()
    const { context } = state.host
    const endsAt = context.now() + (state.functionTimeout.timeoutMs ?? maxFunctionMs)
    const reply = await this.#inTime({ of: own, args, signal, usesLeft })
    const cause = signal.aborted ? 'was interrupted' : 'took too long'
    if (!reply) return { text: `The function ${cause}. Its result is not known.` }
    return this.#result(call, own, reply, endsAt - context.now() - lastActionsMs)
  }

  async #builtIn(
    name: string,
    { parsed, raw }: FunctionArguments,
    signal: AbortSignal,
  ): Promise<AgentFunctionResult> {
    const { moves, native } = this.#deps
    const { steps, log, host } = this.#state
    const moved = async (text: Promise<string>) => {
      const result = { text: await text }
      this.#state.refresh()
      return result
    }
    if (name === nextStep) return moved(moves.apply(steps.next(textOf(parsed.step)), 'ai_function'))
    if (name === changeContext)
      return moved(moves.apply(steps.changeContext(textOf(parsed.context) ?? ''), 'ai_function'))
    if (name === gatherSubmit) return moved(moves.submit(parsed))
    const isShown = this.#state.shown.some((shown) => shown.name === name)
    const run = isShown ? runNative(name, parsed, native, signal) : undefined
    if (!run) return { text: `There is no function ${name}.` }
    log.traced({ at: host.context.now(), name, args: raw, isNative: true })
    return run
  }

  /** Carries out the actions of a reply, and returns the result for the model within `leftMs`. */
  async #result(
    call: AgentFunctionCall,
    of: FunctionDefinition,
    reply: FunctionReply,
    leftMs: number,
  ): Promise<AgentFunctionResult> {
    const { effects } = this.#deps
    const replaced = reply.effects.findLast(({ kind }) => kind === 'replace-in-history')
    const kept = replaced?.kind === 'replace-in-history' ? { kept: replaced.text ?? '' } : {}
    if (kept.kept !== undefined) this.#kept.set(call.id, kept.kept)
    const text = textFor(reply)
    if (reply.effects.length === 0) return { text }
    // The vendor's bedrock agents always speak before actions.
    if (reply.postProcess || this.#state.host.form === 'bedrock') {
      const after = async () => this.#finishLate(await effects.carryOut(reply.effects, of))
      return { text, ...kept, after }
    }
    const done = effects.carryOut(reply.effects, of)
    const waitMs = Math.max(0, Math.min(maxActionsMs, leftMs))
    const result = await within(this.#state.host.timers, waitMs, done)
    if (!result) {
      // The model waits for these actions, and goes on after them.
      void done.then((late) => this.#finishLate(late.respond === false ? late : { text: resumed, ...late }))
      return { text, ...kept, respond: false }
    }
    const { after, respond } = result
    return {
      text: result.text ?? text,
      ...(respond !== undefined && { respond }),
      ...kept,
      ...(after && { after: async () => after() }),
    }
  }

  /** Lets the model speak about actions that ended after their function. */
  #finishLate({ text, isLast, after }: EffectResult): void {
    const { isOver } = this.#state
    after?.()
    if (isOver || isLast || text === undefined) return
    this.#state.message({ role: 'system', content: text }, true)
  }

  /** Returns a reply, or undefined if it comes too late; then it has no effect. */
  async #inTime(request: Request): Promise<FunctionReply | undefined> {
    const { of, signal } = request
    const coming = this.#replyOf(request)
    const { timers } = this.#state.host
    let isLate = false
    const cancelled = Promise.withResolvers<undefined>()
    const cancel = () => cancelled.resolve(undefined)
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    void coming.then(
      ({ effects }) => {
        if (isLate) this.#dropped(of, effects.length)
      },
      () => {},
    )
    // The signal of a conversation outlives thousands of polls.
    const waited = within(timers, maxFunctionMs, Promise.race([coming, cancelled.promise]))
    const reply = await waited.finally(() => signal.removeEventListener('abort', cancel))
    isLate = reply === undefined
    if (isLate && !signal.aborted) this.#state.host.warn(`The function ${of.name} did not reply in time.`)
    return reply
  }

  #dropped({ name }: FunctionDefinition, actions: number): void {
    const { host, log } = this.#state
    const message = `The reply of ${name} came too late; its ${actions} actions are dropped.`
    log.remark(message, host.context.now())
    host.warn(message)
  }

  /** Asks the function's data map or server. A failure is a reply with a text for the model. */
  async #replyOf(request: Request): Promise<FunctionReply> {
    const { of, args, signal } = request
    const further = this.#deps.further.run(of.name, args.parsed, signal)
    const reply = await (further
      ? this.#traced(request, further)
      : of.dataMap
        ? this.#map(request, of.dataMap)
        : this.#ask(request))
    for (const { path, message } of reply.warnings)
      this.#state.host.warn(`The reply of ${of.name} has a fault at ${path || '/'}: ${message}.`)
    return reply
  }

  async #traced({ of, args }: Request, run: Promise<FunctionReply>): Promise<FunctionReply> {
    const { log, host } = this.#state
    const reply = await run
    log.traced({ at: host.context.now(), name: of.name, args: args.raw, reply: reply.response })
    return reply
  }

  async #map({ of, args, signal }: Request, map: Json): Promise<FunctionReply> {
    const state = this.#state
    const { host, functions, log } = state
    const timeout = state.functionTimeout
    const meta_data = functions.metaData(of.metaDataToken)
    const { reply, output, url } = await runDataMap(
      map,
      { ...state.values, args: args.parsed, meta_data },
      {
        request: (request, cancel) => host.context.request({ ...request, ...timeout }, cancel),
        matches: (pattern, ignoreCase, text) => host.matches(pattern, ignoreCase, text),
        now: () => host.context.now(),
        onEvent: (event) => {
          for (const { name, value } of dataMapEvents(event)) state.debug(name, value)
        },
        signal,
      },
    )
    log.traced({
      at: host.context.now(),
      name: of.name,
      args: args.raw,
      ...(url !== undefined && { url }),
      reply: output,
    })
    return reply
  }

  async #ask({ of, args, usesLeft, isPoll }: Request): Promise<FunctionReply> {
    const state = this.#state
    const { host, document, log } = state
    const target = of.webhook ?? document.defaultWebhook
    if (!target) return failedReply(`The function ${of.name} has neither a web_hook_url nor a data_map`)
    const url = state.fill(target.url)
    const body = functionRequest(of, args, requestFacts(state, of))
    const trace = { at: host.context.now(), name: of.name, args: args.raw, url: redactedUrl(url) }
    const request = { ...trace, request: withoutLogs(body), ...(usesLeft !== undefined && { usesLeft }) }
    state.debug('swaig_call', { function: of.name, url: trace.url })
    try {
      const text = JSON.stringify(body)
      const { text: answer } = await host.context.fetchDocument({
        url,
        method: 'POST',
        body: { contentType: 'application/json', text },
        ...state.functionTimeout,
      })
      const value: unknown = answer.trim() === '' ? {} : JSON.parse(answer)
      const reply = readReply(value)
      // A reply beyond the limits was not read. It could also be too deep to be written again.
      const kept = sizeFault(value, dataLimits) === undefined ? value : answer.slice(0, maxLoggedLength)
      if (!isPoll || reply.effects.length > 0 || reply.response) log.traced({ ...request, reply: kept })
      return reply
    } catch (error) {
      const reason = error instanceof SyntaxError ? 'Its reply is not JSON' : (error as Error).message
      log.traced({ ...request, reply: { error: reason } })
      return failedReply(reason)
    }
  }

  #warn(name: string, error: unknown): void {
    if (this.#state.host.call.signal.aborted) return
    this.#state.host.warn(
      `The function ${name} failed: ${error instanceof Error ? error.message : 'unknown'}`,
    )
  }
}

/** Returns a request without the conversation, which the report contains once. */
const withoutLogs = ({ call_log, raw_call_log, ...body }: Json): Json => body

const textFor = ({ response }: FunctionReply): string => {
  const text = response ?? 'Done.'
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)} …` : text
}
