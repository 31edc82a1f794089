import type { AgentFunction } from '../verbs.ts'
import type { AgentContext, AgentStep, HistoryReset, Json } from './document-types.ts'
import { changeContext, nextStep } from './function-names.ts'
import { Gather, type GatherResult } from './gather.ts'

/** Phrases by language. */
export type Phrases = Readonly<Record<string, readonly string[]>>

/** Cause of a change, as the debug webhook names it. */
export type Trigger = 'ai_function' | 'webhook_action' | 'gather_complete' | 'auto_advance'

/** Change to another step or context. */
export interface Move {
  readonly kind: 'moved'
  /** Text for the model: the new instructions. */
  readonly text: string
  readonly context: string
  readonly step: string
  readonly isNewContext: boolean
  /** Names of the context and the step before; absent without one. */
  readonly from?: { readonly context: string; readonly step: string }
  /** Changes of the history; absent: it stays. */
  readonly reset?: HistoryReset
  /** Whether the model forgets the history, unless the reset says otherwise. */
  readonly isIsolated: boolean
  /** Phrases to say on the way, in order. */
  readonly fillers: readonly Phrases[]
  /** Whether the agent speaks on without waiting for the caller. */
  readonly speaksOn: boolean
}

/** Refusal of a change, with the reason as a text for the model. */
export interface Refusal {
  readonly kind: 'refused'
  readonly text: string
}

const refused = (text: string): Refusal => ({ kind: 'refused', text })
const unanswered = refused('The questions of the present step must be answered first.')

/**
 * State machine of an agent's contexts and steps: instructions and functions of the present step, and the
 * ways out of it. Without contexts it adds nothing.
 */
export class Steps {
  readonly #contexts: ReadonlyMap<string, AgentContext>
  #context: AgentContext | undefined
  #step: AgentStep | undefined
  #gather: Gather | undefined
  /** Functions that are on; steps without a list keep those of the step before. */
  #allowed: readonly string[] | undefined

  /** Begins in the context `default`. */
  constructor(contexts: ReadonlyMap<string, AgentContext>) {
    this.#contexts = contexts
    const first = contexts.get('default')
    if (first) this.#enter(first, initialOf(first))
  }

  get context(): AgentContext | undefined {
    return this.#context
  }

  get step(): AgentStep | undefined {
    return this.#step
  }

  /** Questions of the present step, if they are not all answered. */
  get gather(): Gather | undefined {
    return this.#gather?.question ? this.#gather : undefined
  }

  /** Instructions to add to the prompt; empty without contexts. */
  get text(): string {
    const { text } = this.#context ?? {}
    return [...(text ? [text] : []), ...(this.#step ? [this.#stepText(this.#step)] : [])].join('\n\n')
  }

  /** Names of the document's functions that are on; undefined: all. */
  get allowed(): readonly string[] | undefined {
    return this.gather?.question?.functions ?? this.#allowed
  }

  /** Functions by which the model moves on and submits answers. */
  get functions(): readonly AgentFunction[] {
    const { gather } = this
    if (gather?.function) return [gather.function]
    const steps = this.#ways
    const contexts = this.#contextWays
    return [
      ...(steps.length > 0
        ? [choice(nextStep, 'step', 'Goes to another step when the present one is done.', steps)]
        : []),
      ...(contexts.length > 0
        ? [choice(changeContext, 'context', 'Goes to another context of the conversation.', contexts)]
        : []),
    ]
  }

  /** Goes where the model wants; default the only way, or the first one. */
  next(name?: string): Move | Refusal {
    if (this.gather) return unanswered
    const ways = this.#ways
    const wanted = name === undefined || name === 'next' ? ways[0] : name
    if (wanted === undefined) return refused('There is no further step.')
    if (!ways.includes(wanted)) return refused(`The step must be one of: ${ways.join(', ')}.`)
    return this.goToStep(wanted)
  }

  /** Goes to the context that the model wants. */
  changeContext(name: string): Move | Refusal {
    if (this.gather) return unanswered
    const ways = this.#contextWays
    return ways.includes(name)
      ? this.goToContext(name)
      : refused(`The context must be one of: ${ways.join(', ') || '(none)'}.`)
  }

  /** Goes to any step of the present context; `next` is the next in order. */
  goToStep(name: string): Move | Refusal {
    const context = this.#context
    const step = name === 'next' ? this.#following : context?.steps.find((of) => of.name === name)
    if (!context || !step) return refused(`There is no step ${name}.`)
    return this.#move(context, step)
  }

  /** Goes to any context. */
  goToContext(name: string): Move | Refusal {
    const context = this.#contexts.get(name)
    return context ? this.#move(context, initialOf(context)) : refused(`There is no context ${name}.`)
  }

  /** Takes an answer to the present question. */
  submit(args: Json): GatherResult {
    return this.gather?.submit(args) ?? { kind: 'again', text: 'There is no question to answer.' }
  }

  /**
   * Goes to the step that follows the answered questions. Undefined to stay; a step that does not exist is
   * refused.
   */
  afterGather(): Move | Refusal | undefined {
    const action = this.#gather?.completionAction
    if (action === undefined) return undefined
    return action === nextStep ? this.next() : this.goToStep(action)
  }

  /** Steps that the model may go to. */
  get #ways(): readonly string[] {
    const context = this.#context
    const step = this.#step
    if (!context || !step || step.end) return []
    const following = this.#following?.name
    const named = step.validSteps.length > 0 ? step.validSteps : (context.validSteps ?? ['next'])
    const known = new Set(context.steps.map(({ name }) => name))
    const ways = named.flatMap((name) => (name === 'next' ? (following ?? []) : known.has(name) ? name : []))
    return [...new Set(ways)]
  }

  /** Contexts that the model may go to. */
  get #contextWays(): readonly string[] {
    const own = this.#step?.validContexts ?? []
    const names = own.length > 0 ? own : (this.#context?.validContexts ?? [])
    return names.filter((name) => this.#contexts.has(name) && name !== this.#context?.name)
  }

  get #following(): AgentStep | undefined {
    const steps = this.#context?.steps ?? []
    const index = steps.findIndex(({ name }) => name === this.#step?.name)
    return index < 0 ? undefined : steps[index + 1]
  }

  #stepText({ name, text, criteria }: AgentStep): string {
    const question = this.gather?.text
    return [
      `Present step of the conversation: ${name}`,
      ...(text ? [text] : []),
      ...(criteria ? [`The step is done when: ${criteria}`] : []),
      ...(question ? [question] : []),
    ].join('\n')
  }

  #move(context: AgentContext, step: AgentStep | undefined): Move {
    const from = this.#context
    const fromStep = this.#step
    const isNewContext = from !== context
    this.#enter(context, step)
    const reset = step?.reset ?? (isNewContext ? context.reset : undefined)
    const history = step?.history === 'default' && isNewContext ? context.history : step?.history
    const isHidden = history === 'hide' || (history !== 'keep' && isNewContext && context.isIsolated)
    const isIsolated = isHidden || (this.#gather?.isIsolated ?? false)
    return {
      kind: 'moved',
      text: this.text,
      context: context.name,
      step: step?.name ?? '',
      isNewContext,
      ...(from && fromStep && { from: { context: from.name, step: fromStep.name } }),
      ...(reset && isReset(reset) && { reset }),
      isIsolated,
      fillers: isNewContext ? [from?.exitFillers, context.enterFillers].filter((of) => of !== undefined) : [],
      speaksOn: step?.skipUserTurn ?? false,
    }
  }

  #enter(context: AgentContext, step: AgentStep | undefined): void {
    if (this.#context !== context) this.#allowed = undefined
    this.#context = context
    this.#step = step
    this.#gather = step?.gather && new Gather(step.gather)
    if (step?.functions) this.#allowed = step.functions
  }
}

const initialOf = ({ steps, initialStep }: AgentContext): AgentStep | undefined =>
  steps.find(({ name }) => name === initialStep) ?? steps[0]

const isReset = ({ systemPrompt, userPrompt, consolidate, fullReset }: HistoryReset): boolean =>
  systemPrompt !== undefined || userPrompt !== undefined || consolidate || fullReset

const choice = (
  name: string,
  parameter: string,
  description: string,
  values: readonly string[],
): AgentFunction => ({
  name,
  description,
  parameters: {
    type: 'object',
    properties: { [parameter]: { type: 'string', enum: values } },
    required: [parameter],
  },
})
