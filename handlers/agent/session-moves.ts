import { within } from '../common/timers.ts'
import type { AgentMessage } from '../verbs.ts'
import type { HistoryReset, Json } from './document-types.ts'
import type { SessionState } from './session-state.ts'
import type { Move, Phrases, Refusal, Trigger } from './steps.ts'

/** Instruction for the summary that replaces a history. */
const consolidation =
  'Summarize the conversation so far in a few sentences. Keep every fact that matters for what follows.'

/** Instruction for the summary of a step that the conversation leaves. */
const stepSummary =
  'Summarize the present step of the conversation in one or two sentences, with its results.'

/** Maximum wait for a summary in the conversation, in milliseconds. */
const maxSummaryMs = 15_000

/** Changes of context, step and history in one conversation. */
export class Moves {
  readonly #state: SessionState
  #language: string

  constructor(state: SessionState) {
    this.#state = state
    this.#language = state.document.languages[0]?.code ?? 'default'
  }

  /** Takes the language that the agent speaks now. */
  speaks(language: string): void {
    this.#language = language
  }

  /** Carries out a change. Returns the text for the model. */
  async apply(move: Move | Refusal, trigger: Trigger): Promise<string> {
    const state = this.#state
    if (move.kind === 'refused') return move.text
    const { context, step, isNewContext, from } = move
    const name = isNewContext ? 'context_change' : 'step_change'
    state.debug(name, { context, step, trigger })
    state.log.remark(`${name}: ${context} ${step}`, state.host.context.now())
    for (const fillers of move.fillers) this.#sayOne(fillers)
    const { stepHistory } = state
    // Together: one after the other would take longer than a function may.
    const [ofStep, ofAll] = await Promise.all([
      from && stepHistory.needsSummary ? this.summary(stepSummary) : undefined,
      this.#consolidated(move.reset),
    ])
    if (from) stepHistory.leave(from, ofStep)
    this.#change(move.reset, move.isIsolated, ofAll)
    return `${isNewContext ? `The context is now ${context}.\n` : ''}${state.fill(move.text)}`
  }

  /** Carries out a change that the model did not ask for. The agent speaks on if the step wants it. */
  async push(move: Move | Refusal, trigger: Trigger): Promise<void> {
    if (move.kind === 'refused') {
      this.#state.host.warn(move.text)
      return
    }
    await this.apply(move, trigger)
    if (!move.speaksOn || this.#state.isOver) return
    const content = 'The conversation goes on with its new step. Speak now.'
    this.#state.message({ role: 'system', content }, true)
  }

  /** Goes on by itself after an answer of the step, if the step wants that. */
  async answered(): Promise<void> {
    const { steps, isOver } = this.#state
    if (isOver || !steps.step?.skipToNextStep || steps.gather) return
    const move = steps.goToStep('next')
    if (move.kind === 'moved') await this.push(move, 'auto_advance')
  }

  /** Submits an answer to a question of the step. Returns the text for the model. */
  async submit(args: Json): Promise<string> {
    const state = this.#state
    const result = state.steps.submit(args)
    const isHidden = state.document.params.redact
    state.debug(`gather_${result.kind}`, isHidden ? {} : { text: result.text })
    if (result.kind === 'complete') {
      state.addGlobalData(result.data)
      const move = state.steps.afterGather()
      const text = move && (await this.apply(move, 'gather_complete'))
      state.refresh()
      return text ? `${result.text}\n${text}` : result.text
    }
    if (result.kind === 'next' && state.steps.gather?.question?.isIsolated) await this.reset(undefined, true)
    state.refresh()
    return result.text
  }

  /** Changes prompt and history. `isIsolated`: the model forgets, unless the reset says otherwise. */
  async reset(reset: HistoryReset | undefined, isIsolated = false): Promise<void> {
    this.#change(reset, isIsolated, await this.#consolidated(reset))
  }

  /** Returns the summary that replaces the history; undefined if none does, or no model gives one. */
  #consolidated(reset: HistoryReset | undefined): Promise<string | undefined> {
    return reset?.consolidate ? this.summary(consolidation) : Promise.resolve(undefined)
  }

  #change(reset: HistoryReset | undefined, isIsolated: boolean, summary: string | undefined): void {
    const state = this.#state
    if (state.isOver) return
    if (reset?.systemPrompt !== undefined) state.replacePrompt(reset.systemPrompt)
    const history = newHistory(reset, isIsolated, summary)
    if (history) {
      state.log.reset()
      state.change({ history })
      for (const { content } of history) state.log.system(content, state.host.context.now())
    }
    state.refresh()
    if (reset?.userPrompt === undefined) return
    const content = state.fill(reset.userPrompt)
    state.log.prompted('user', content, state.host.context.now())
    state.message({ role: 'user', content }, false)
  }

  /** Asks a model for a summary; undefined if none gives one. */
  async summary(instruction: string): Promise<string | undefined> {
    const { agent, host } = this.#state
    try {
      const asked = agent?.summarize(instruction)
      return asked && (await within(host.timers, maxSummaryMs, asked))
    } catch (error) {
      host.warn(`No model gave a summary: ${error instanceof Error ? error.message : 'unknown'}`)
      return undefined
    }
  }

  /** Says the first phrase of the present language. */
  #sayOne(fillers: Phrases): void {
    const [base = ''] = this.#language.split('-')
    const of = (code: string) => (Object.hasOwn(fillers, code) ? fillers[code]?.[0] : undefined)
    const phrase = of(this.#language) ?? of(base) ?? of('default')
    if (phrase) void this.#state.agent?.say(phrase)
  }
}

/** Returns what the model still knows; undefined if the history stays. */
const newHistory = (
  reset: HistoryReset | undefined,
  isIsolated: boolean,
  summary: string | undefined,
): readonly AgentMessage[] | undefined => {
  if (!reset?.consolidate) return reset?.fullReset || isIsolated ? [] : undefined
  // Without a summary the history stays: a forgotten caller is worse than a long history.
  if (summary === undefined) return undefined
  return [{ role: 'system', content: `Conversation so far: ${summary}` }]
}
