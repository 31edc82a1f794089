/** Text of a script's steps for people. */
import { isSecretName, maskedSecret, withoutUrlSecrets } from '../../config/secret-mask.ts'
import { Branches, Nested, type ScriptStep, StepList } from '../../handlers/script/steps.ts'

/** Maximum number of branches of a step that are shown. */
const maxBranches = 6

/**
 * Returns a step as lines: its method with its parameters, then a line for each branch, such as
 * `  1: connect to: /public/sales`. Values that may be secret are masked.
 */
export const stepLines = ({ method, parameters }: ScriptStep): readonly string[] => {
  const entries = Object.entries(parameters)
  const plain = entries.filter(([, value]) => !(value instanceof Nested))
  const selector = entries.flatMap(([, value]) => (value instanceof Branches ? (value.variable ?? []) : []))
  const branches = entries.flatMap(([name, value]) => branchesOf(name, value))
  const more = branches.length - maxBranches
  return [
    [method, ...selector, pairs(plain)].filter((part) => part !== '').join(' '),
    ...branches
      .slice(0, maxBranches)
      .map(([label, { steps }]) => `  ${label}: ${steps.map(shortStep).join(', then ') || 'nothing'}`),
    ...(more > 0 ? [`  and ${more} more branches`] : []),
  ]
}

type LabelledSteps = readonly [label: string, steps: StepList]

/** Returns the lists of steps in a parameter. Only `result` and lists of steps need the parameter's name. */
const branchesOf = (name: string, value: unknown): readonly LabelledSteps[] => {
  if (value instanceof StepList) return [[name, value]]
  if (!(value instanceof Branches)) return []
  const prefix = name === 'cases' || name === 'conditions' ? '' : `${name} `
  return [
    ...[...value.cases].map(([at, steps]) => [`${prefix}${at}`, steps] as const),
    ...value.conditions.flatMap(({ when, then, otherwise }): readonly LabelledSteps[] => [
      [`${prefix}if ${when}`, then],
      ...(otherwise ? [[`${prefix}if not ${when}`, otherwise] as const] : []),
    ]),
    ...(value.otherwise ? [[`${prefix}otherwise`, value.otherwise] as const] : []),
  ]
}

/** Returns a step of a branch in one line, without branches of its own. */
const shortStep = (step: ScriptStep): string => stepLines(step)[0] ?? step.method

const pairs = (entries: readonly (readonly [string, unknown])[]): string =>
  entries.map(([name, value]) => `${name}: ${isSecretName(name) ? maskedSecret : textOf(value)}`).join(', ')

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return withoutUrlSecrets(value)
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  if (typeof value === 'object' && value !== null) return `{ ${pairs(Object.entries(value))} }`
  return String(value)
}
