import { methods } from '../script/methods/index.ts'
import { keys, list, type Schema, text } from '../script/schema-builders.ts'
import { outcomeName } from './conditions.ts'
import { type Condition, decide, literal, type NodeKind, type Options } from './node.ts'

/** Choice that the caller can make. */
interface Choice {
  readonly name: string
  readonly digits?: string
  readonly phrases?: readonly string[]
}

const choicesOf = (options: Options): readonly Choice[] => (options.choices ?? []) as readonly Choice[]

const { properties: ofPrompt = {} } = methods.get('prompt') ?? {}

const choice: Schema = {
  title: 'a choice (an object with name, and digits or phrases)',
  type: 'object',
  properties: {
    name: outcomeName,
    digits: keys('DTMF digits of the choice.'),
    phrases: list(
      'Spoken phrases of the choice.',
      'a list of texts',
      { ...text('A word or phrase of at most 100 characters.'), maxLength: 100 },
      { minItems: 1, maxItems: 100 },
    ),
  },
  required: ['name'],
  anyOf: [{ required: ['digits'] }, { required: ['phrases'] }],
  additionalProperties: false,
}

/** Number of phrases in one condition, which keeps its expression below the maximum length. */
const phrasesPerCondition = 4

/** Conditions that hold if the caller sent the choice's digits or said one of its phrases. */
const conditionsOf = ({ name, digits, phrases = [] }: Choice): readonly Condition[] => {
  const ways =
    digits === undefined ? [] : [`prompt_result == 'match_digits' && prompt_value == ${literal(digits)}`]
  for (let i = 0; i < phrases.length; i += phrasesPerCondition) {
    const some = phrases
      .slice(i, i + phrasesPerCondition)
      .map((phrase) => literal(phrase.trim().toLowerCase()))
    ways.push(`prompt_result == 'match_speech' && [${some}].includes(prompt_value.trim().toLowerCase())`)
  }
  return ways.map((when) => ({ name, when }))
}

/** Parameters of the prompt for its choices: digits, speech, or both. */
const collected = (options: Options): Options => {
  const choices = choicesOf(options)
  const digits = choices.flatMap((each) => each.digits ?? [])
  const phrases = choices.flatMap((each) => each.phrases ?? [])
  return {
    ...(digits.length > 0 && { max_digits: Math.max(...digits.map((keysOf) => keysOf.length)) }),
    ...(phrases.length > 0 && { speech_hints: phrases }),
  }
}

/** Node that asks the caller for a choice. */
export const gather: NodeKind = {
  description: 'Plays sounds and asks for a choice by digits or speech.',
  properties: {
    ...ofPrompt,
    choices: list('Choices of the caller.', 'a list of 1 to 50 choices', choice, {
      minItems: 1,
      maxItems: 50,
    }),
  },
  required: ['play', 'choices'],
  outcomes: ['unknown', 'no_input'],
  named: (options) => choicesOf(options).map(({ name }) => name),
  compile: (options, follow) => {
    const { choices: _, ...prompt } = options
    const none = { name: 'no_input', when: "prompt_result == 'no_input' || prompt_result == 'failed'" }
    return [
      { prompt: { ...collected(options), ...prompt } },
      ...decide([none, ...choicesOf(options).flatMap(conditionsOf)], follow, 'unknown'),
    ]
  },
}
