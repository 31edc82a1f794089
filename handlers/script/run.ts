import type { AgentMemory } from '../agent/session-host.ts'
import { asText } from '../common/as-text.ts'
import { withoutWarnings } from '../common/contexts.ts'
import { isPath } from '../common/placeholders.ts'
import type { Timers } from '../common/timers.ts'
import type { HandlerContext } from '../handler.ts'
import type { AgentTranscriptEvent, CallControl, CallRecording, CallStream } from '../verbs.ts'
import { CallEnded, VerbFailed } from '../verbs.ts'
import { Background } from './background.ts'
import type { ScriptIds } from './call-object.ts'
import { codes } from './codes.ts'
import { StatusEvents } from './events.ts'
import { type LoadScriptOptions, loadDestination, type ScriptReader } from './loading.ts'
import type { Method, Outcome, Params, ScriptContext, Section } from './method.ts'
import { confirmMethods, methods } from './methods/index.ts'
import { type Branches, type ScriptStep, StepList } from './steps.ts'
import { Values } from './values.ts'
import type { Variables } from './variables.ts'

/** Maximum depth of nested `execute` calls. */
const maxSectionDepth = 32

/** Maximum number of consecutive jumps without a method that acts on the call; see {@link callMethods}. */
const maxJumps = 32

/** Number of steps that a script may run at any rate. */
const maxInitialSteps = 10_000

/** Running time that permits one more step, in milliseconds. */
const msPerStep = 50

/** Methods that act on the call or take time, and therefore reset the count of jumps. */
const callMethods = new Set([
  'answer',
  'play',
  'prompt',
  'sleep',
  'send_digits',
  'connect',
  'record',
  'join_conference',
  'join_room',
  'enter_queue',
  'detect_machine',
  'ai',
  'amazon_bedrock',
])

/** Collaborators of a {@link ScriptRun}. */
export interface ScriptRunDeps {
  readonly call: CallControl
  readonly context: HandlerContext
  readonly variables: Variables
  /** Reads the documents of the script; default immediately, in the current thread. */
  readonly documents?: ScriptReader
  readonly ids: ScriptIds
  readonly timers: Timers
  /** Ends the conversations of voice agents. */
  readonly stopAgents?: AbortSignal
  /** Receives the live transcripts of voice agents on the call. */
  readonly onTranscript?: (event: AgentTranscriptEvent) => void
}

/** Running section with the number of jumps of each `goto`, by path. */
interface Frame {
  readonly section: Section
  readonly jumps: Map<string, number>
}

/** Error that ends a script in an endless loop. */
class LoopDetected extends Error {}

/** Run of one script on one call. */
export class ScriptRun implements ScriptContext {
  readonly call: CallControl
  readonly context: HandlerContext
  readonly variables: Variables
  readonly events: StatusEvents
  readonly recordings = new Background<CallRecording>('recording')
  readonly streams = new Background<CallStream>('stream')
  readonly taps = new Background<CallStream>('tap')
  readonly agents: AgentMemory = {}
  readonly #deps: ScriptRunDeps
  /** Stack of running sections; each one was executed by the one before it. */
  readonly #frames: Frame[] = []
  #jumps = 0
  #steps = 0
  readonly #startedAt: number
  /** Path of the current step. */
  #at = ''

  constructor(deps: ScriptRunDeps) {
    this.#deps = deps
    this.call = deps.call
    this.context = deps.context
    this.variables = deps.variables
    this.#startedAt = deps.context.now()
    this.events = new StatusEvents(deps.context, deps.call.info, deps.ids)
  }

  /** Runs a section and the sections that it transfers to. Resolves with whether it transferred at all. */
  async run(section: Section): Promise<boolean> {
    let next: { readonly to: Section; readonly params?: Params } | undefined = { to: section }
    let hasTransferred = false
    try {
      while (next) {
        if (next.params) this.variables.params = next.params
        const outcome: Outcome = await this.#enter(next.to)
        next = outcome?.kind === 'transfer' ? outcome : undefined
        hasTransferred ||= next !== undefined
      }
    } catch (error) {
      if (!(error instanceof LoopDetected)) throw error
    }
    return hasTransferred
  }

  async steps(list: StepList | undefined): Promise<Outcome> {
    const { steps = [] } = list ?? {}
    let index = 0
    for (let step = steps[index]; step; step = steps[index]) {
      const outcome = await this.#runStep(step)
      index++
      if (outcome?.kind === 'goto') {
        const target = list?.indexOf(outcome.label)
        if (target === undefined) return outcome
        index = target
      } else if (outcome) return outcome
    }
    return undefined
  }

  async branch(branches: Branches | undefined, variable: string): Promise<Outcome> {
    if (!branches) return undefined
    if (branches.by === 'value') return this.#switch(branches, branches.variable ?? variable)
    for (const { when, then, otherwise } of branches.conditions) {
      if (await this.holds(when)) return this.steps(then)
      if (otherwise) return this.steps(otherwise)
    }
    return this.steps(branches.otherwise)
  }

  mayJump(path: string, maxOfStep: number): boolean {
    const { jumps } = this.#frame
    const done = jumps.get(path) ?? 0
    jumps.set(path, done + 1)
    if (done >= maxOfStep) return false
    this.#jump()
    return true
  }

  async find(dest: string, params: Params): Promise<Section> {
    this.#jump()
    const { section } = this.#frame
    const steps = section.sections.get(dest)
    if (steps) return { ...section, steps }
    const { context, variables } = this
    return loadDestination(dest, { context, variables, documents: this.#deps.documents, params })
  }

  async execute(section: Section, params: Params): Promise<{ outcome: Outcome; value: unknown }> {
    if (this.#frames.length >= maxSectionDepth)
      throw new VerbFailed(codes.tooDeep, `Sections are nested more than ${maxSectionDepth} levels deep.`)
    const { params: own } = this.variables
    this.variables.params = params
    const outcome = await this.#enter(section)
    if (outcome?.kind === 'transfer') return { outcome, value: undefined }
    this.variables.params = own
    return { outcome: undefined, value: outcome?.kind === 'return' ? outcome.value : undefined }
  }

  async perform(dest: string): Promise<{ readonly outcome: Outcome }> {
    this.#jumps = 0
    return this.execute(await this.find(dest, {}), {})
  }

  async confirm(callee: CallControl, source: string | StepList): Promise<void> {
    const variables = this.variables.forCallee(callee)
    const section =
      source instanceof StepList
        ? { ...this.#frame.section, sections: new Map(), steps: source }
        : await this.#load(source, { variables, context: this.context, permitted: confirmMethods })
    await new ScriptRun({ ...this.#deps, call: callee, variables }).run(section)
  }

  waiting(url: string): (call: CallControl) => Promise<void> {
    let context = this.context
    return async (call) => {
      const section = await this.#load(url, { variables: this.variables, context })
      await new ScriptRun({ ...this.#deps, call, context }).run(section)
      context = withoutWarnings(this.context)
    }
  }

  warn(code: string, message: string, path: string): void {
    const document = this.#frames.at(-1)?.section.document
    this.context.warn({ code, message, ...(document !== undefined && { document }), path })
    this.variables.assign({ script_error: code })
  }

  get timers(): Timers {
    return this.#deps.timers
  }

  get stopAgents(): AbortSignal | undefined {
    return this.#deps.stopAgents
  }

  get onTranscript(): ScriptRunDeps['onTranscript'] {
    return this.#deps.onTranscript
  }

  get #frame(): Frame {
    const frame = this.#frames.at(-1)
    if (!frame) throw new Error('No section runs.')
    return frame
  }

  /** Loads a side document. Logs its failure. */
  async #load(dest: string, options: LoadScriptOptions): Promise<Section> {
    try {
      return await loadDestination(dest, { ...options, documents: this.#deps.documents })
    } catch (error) {
      if (error instanceof VerbFailed) this.warn(error.code, error.message, this.#at)
      throw error
    }
  }

  async #enter(section: Section): Promise<Outcome> {
    this.#frames.push({ section, jumps: new Map() })
    try {
      return await this.steps(section.steps)
    } finally {
      this.#frames.pop()
    }
  }

  #jump(): void {
    this.#jumps++
    if (this.#jumps > maxJumps) this.#endLoop(`More than ${maxJumps} consecutive jumps.`)
  }

  #endLoop(message: string): never {
    this.warn(codes.tooManyTransfers, `${message} The script ends.`, this.#at)
    throw new LoopDetected(message)
  }

  /**
   * Runs a step. A method that fails causes a warning and sets its result variables; the next step follows.
   */
  async #runStep(step: ScriptStep): Promise<Outcome> {
    // Yields to other calls, which consecutive steps without waits would block.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.call.signal.aborted) throw new CallEnded()
    this.#at = step.path
    this.#steps++
    const ran = this.context.now() - this.#startedAt
    if (this.#steps > maxInitialSteps + ran / msPerStep) this.#endLoop('Too many steps in a short time.')
    this.context.step({ path: step.path, method: step.method })
    const method = methods.get(step.method)
    if (!method) throw new Error(`There is no method ${step.method}.`)
    try {
      const outcome = await method.run(new Values(await this.#resolve(step, method), method, step.path), this)
      if (callMethods.has(step.method)) this.#jumps = 0
      return outcome
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.variables.assign(method.failed ?? {})
      this.warn(error.code, error.message, step.path)
      return undefined
    }
  }

  async #resolve({ parameters }: ScriptStep, { raw = [], plain = [], decoded }: Method): Promise<Params> {
    const entries = Object.entries(parameters)
    const isLiteral = (name: string) => raw.includes(name) || plain.includes(name)
    const rest = Object.fromEntries(entries.filter(([name]) => !isLiteral(name)))
    return {
      ...((await this.variables.resolve(rest, decoded)) as Params),
      ...Object.fromEntries(entries.filter(([name]) => isLiteral(name))),
    }
  }

  async #switch(branches: Branches, variable: string): Promise<Outcome> {
    const value = asText(this.variables.lookup(variable))
    const chosen = branches.cases.get(value) ?? branches.otherwise
    if (!chosen)
      this.warn(
        codes.noMatch,
        `No case matches the value of ${variable}, and there is no default.`,
        branches.path,
      )
    return this.steps(chosen)
  }

  async holds(when: string): Promise<boolean> {
    const path = this.#at
    try {
      return Boolean(await this.variables.evaluate(isPath(when) ? when : `!!(${when}\n)`))
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.warn(error.code, error.message, path)
      return false
    }
  }
}
