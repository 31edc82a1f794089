import { partsOf } from '../common/placeholders.ts'
import type { AgentDocument, HistoryReset, Json } from './document-types.ts'

/** Place in the contexts of an agent. */
export interface StepPlace {
  readonly context: string
  readonly step: string
}

const textsOfReset = ({ systemPrompt, userPrompt }: Partial<HistoryReset>) => [systemPrompt, userPrompt]

/** Returns all texts of a document that placeholders can name values in. */
const textsOf = ({
  prompt,
  postPrompt,
  contexts,
  params,
}: AgentDocument): readonly (string | undefined)[] => [
  prompt.text,
  postPrompt?.text,
  params.conscience,
  ...[...contexts.values()].flatMap(({ text, postPrompt: summary, reset, steps }) => [
    text,
    summary,
    ...textsOfReset(reset),
    ...steps.flatMap(({ text: own, criteria, reset: change, gather }) => [
      own,
      criteria,
      ...textsOfReset(change ?? {}),
      gather?.prompt,
      ...(gather?.questions ?? []).flatMap(({ question, prompt: more }) => [question, more]),
    ]),
  ]),
]

/** Whether a placeholder of a text names `step_history` and its `summary`. */
const namesSummary = (text: string): boolean =>
  partsOf(text).some(
    (part) =>
      'expression' in part && ['step_history', 'summary'].every((name) => part.expression.includes(name)),
  )

/**
 * Value of `step_history` in prompts: `prev` is the step that the conversation left last, with `context`,
 * `step` and `summary`. Without a text that names a summary, none is made.
 */
export class StepHistory {
  /** Whether a text of the document names a summary. */
  readonly needsSummary: boolean
  #prev: Json = {}

  constructor(document: AgentDocument) {
    this.needsSummary = textsOf(document).some((text) => text !== undefined && namesSummary(text))
  }

  get value(): Json {
    return { prev: this.#prev }
  }

  /** The conversation has left a step. `summary`: undefined if it was not needed, or no model gave one. */
  leave({ context, step }: StepPlace, summary: string | undefined): void {
    this.#prev = { context, step, ...(summary !== undefined && { summary }) }
  }
}
