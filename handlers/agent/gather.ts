import type { AgentFunction } from '../verbs.ts'
import type { GatherInfo, GatherQuestion, Json } from './document-types.ts'
import { gatherSubmit } from './function-names.ts'

/** Result of an answer. `text` is for the model. */
export type GatherResult =
  | { readonly kind: 'again' | 'next'; readonly text: string }
  /** All questions are answered. `data`: members of the global data. */
  | { readonly kind: 'complete'; readonly text: string; readonly data: Json }

/** Questions of a step that are asked one after the other, each with an answer of its type. */
export class Gather {
  readonly #info: GatherInfo
  readonly #answers: Record<string, unknown> = {}
  #index = 0

  constructor(info: GatherInfo) {
    this.#info = info
  }

  /** Question that is asked now; undefined after the last one. */
  get question(): GatherQuestion | undefined {
    return this.#info.questions[this.#index]
  }

  /** Whether the model forgets the history before the present question, which is the first one. */
  get isIsolated(): boolean {
    return this.#info.isIsolated || (this.question?.isIsolated ?? false)
  }

  /** Step after the last answer: `next_step` or a name; undefined to stay. */
  get completionAction(): string | undefined {
    return this.#info.completionAction
  }

  /** Instruction about the present question; empty after the last one. */
  get text(): string {
    const { question } = this
    if (!question) return ''
    const lines = [
      ...(this.#info.prompt ? [this.#info.prompt] : []),
      `Ask the caller this question: ${question.question}`,
      ...(question.prompt ? [question.prompt] : []),
      `Submit the answer by the function ${gatherSubmit}. Ask nothing else before.`,
      ...(question.confirm ? ['Read the answer back and let the caller confirm it before.'] : []),
    ]
    return lines.join('\n')
  }

  /** Function for the present answer; undefined after the last question. */
  get function(): AgentFunction | undefined {
    const { question } = this
    if (!question) return undefined
    const confirmed = {
      confirmed_by_user: { type: 'boolean', description: 'Whether the caller confirmed the answer.' },
    }
    return {
      name: gatherSubmit,
      description: `Submits the caller's answer to the question: ${question.question}`,
      parameters: {
        type: 'object',
        properties: {
          answer: { type: question.type, description: 'Answer of the caller.' },
          ...(question.confirm && confirmed),
        },
        required: ['answer', ...(question.confirm ? ['confirmed_by_user'] : [])],
      },
    }
  }

  /** Takes an answer. A wrong or unconfirmed one is asked for again. */
  submit(args: Json): GatherResult {
    const { question } = this
    if (!question) return { kind: 'again', text: 'All questions are answered already.' }
    const answer = typed(args.answer, question.type)
    if (answer === undefined)
      return { kind: 'again', text: `The answer must be ${kinds[question.type]}. Ask again.` }
    if (question.confirm && !isTrue(args.confirmed_by_user))
      return { kind: 'again', text: 'The caller has to confirm the answer first. Read it back and ask.' }
    Object.defineProperty(this.#answers, question.key, { value: answer, enumerable: true, writable: true })
    this.#index++
    const next = this.question
    if (next) return { kind: 'next', text: `The answer is noted. Next question: ${next.question}` }
    const { outputKey } = this.#info
    const data = { ...this.#answers }
    return {
      kind: 'complete',
      text: 'The answer is noted. All questions are answered.',
      data: outputKey === undefined ? data : { [outputKey]: data },
    }
  }
}

const kinds: Readonly<Record<GatherQuestion['type'], string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

const isTrue = (value: unknown): boolean => value === true || value === 'true'

/** Returns an answer in its type, also from a text; undefined if it is not of the type. */
const typed = (value: unknown, type: GatherQuestion['type']): unknown => {
  if (type === 'string') {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
    return text === '' ? undefined : text
  }
  if (type === 'boolean') {
    if (isTrue(value)) return true
    return value === false || value === 'false' ? false : undefined
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
  return type === 'integer' && !Number.isInteger(number) ? undefined : number
}
