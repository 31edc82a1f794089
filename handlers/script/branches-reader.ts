import { expressionFault } from '../common/placeholders.ts'
import { codes } from './codes.ts'
import type { NestedKind } from './method-spec.ts'
import { isObject, type Keys, pointer, type Report } from './source.ts'
import { type Branch, Branches, type StepList } from './steps.ts'

type Parameters = Readonly<Record<string, unknown>>

/** Reader of the lists of steps inside branches. */
export interface StepListReader {
  readonly error: Report
  /** Reads a list of steps. */
  list(value: unknown, keys: Keys): StepList
}

/**
 * Reads the branches of `switch`, `cond` and the parameter `result`. Reports faults to the reader and drops
 * faulty branches.
 */
export const readBranches = (
  kind: Exclude<NestedKind, 'steps' | 'confirm'>,
  value: unknown,
  keys: Keys,
  reader: StepListReader,
): Branches => {
  if (kind !== 'cases' && Array.isArray(value)) return readConditions(value, keys, reader)
  if (kind !== 'conditions' && isObject(value)) return readCases(value, kind === 'cases', keys, reader)
  const wanted = {
    cases: 'an object with case',
    conditions: 'a list of conditions',
    branches: 'an object with case, or a list of conditions',
  }
  reader.error(codes.parameterInvalid, `${keys.at(-1)} must be ${wanted[kind]}.`, keys)
  return new Branches({ by: 'value', path: pointer(keys) })
}

const known = (given: Parameters, names: readonly string[], keys: Keys, reader: StepListReader): void => {
  for (const name of Object.keys(given)) {
    if (!names.includes(name))
      reader.error(codes.parameterUndefined, `${keys.at(-1)} has no parameter ${name}.`, [...keys, name])
  }
}

const optional = (
  given: Parameters,
  name: string,
  keys: Keys,
  reader: StepListReader,
): StepList | undefined =>
  Object.hasOwn(given, name) ? reader.list(given[name], [...keys, name]) : undefined

/** `{ variable, case: { value: steps }, default: steps }`. */
const readCases = (given: Parameters, isSwitch: boolean, keys: Keys, reader: StepListReader): Branches => {
  known(given, ['variable', 'case', 'default'], keys, reader)
  const { variable, case: cases } = given
  if (variable === undefined && isSwitch)
    reader.error(codes.parameterMissing, `The parameter variable of ${keys.at(-1)} is missing.`, keys)
  if (variable !== undefined && (typeof variable !== 'string' || variable === ''))
    reader.error(codes.parameterInvalid, 'variable must be the name of a variable.', [...keys, 'variable'])
  const at = [...keys, 'case']
  if (cases === undefined)
    reader.error(codes.parameterMissing, `The parameter case of ${keys.at(-1)} is missing.`, keys)
  else if (!isObject(cases))
    reader.error(codes.parameterInvalid, 'case must be an object of lists of steps.', at)
  const lists = Object.entries(isObject(cases) ? cases : {})
  return new Branches({
    by: 'value',
    path: pointer(keys),
    ...(typeof variable === 'string' && { variable }),
    cases: new Map(lists.map(([name, steps]) => [name, reader.list(steps, [...at, name])])),
    otherwise: optional(given, 'default', keys, reader),
  })
}

/** `[{ when, then, else? }, …, { else }]`. */
const readConditions = (items: readonly unknown[], keys: Keys, reader: StepListReader): Branches => {
  const conditions: Branch[] = []
  let otherwise: StepList | undefined
  for (const [index, item] of items.entries()) {
    const at = [...keys, index]
    if (!isObject(item)) {
      reader.error(
        codes.parameterInvalid,
        'A condition must be an object with when and then, or with else.',
        at,
      )
    } else if (Object.hasOwn(item, 'when')) {
      if (otherwise)
        reader.error(codes.parameterConflict, 'No condition can come after the one that has else alone.', at)
      const condition = readCondition(item, at, reader)
      if (condition) conditions.push(condition)
    } else {
      known(item, ['else'], at, reader)
      if (otherwise) reader.error(codes.parameterConflict, 'Only one condition can have else alone.', at)
      if (Object.hasOwn(item, 'else')) otherwise = reader.list(item.else, [...at, 'else'])
      else reader.error(codes.parameterMissing, 'The condition has neither when nor else.', at)
    }
  }
  return new Branches({ by: 'conditions', conditions, otherwise, path: pointer(keys) })
}

const readCondition = (item: Parameters, keys: Keys, reader: StepListReader): Branch | undefined => {
  known(item, ['when', 'then', 'else'], keys, reader)
  const { when } = item
  // YAML and JSON have literal booleans.
  const text = typeof when === 'string' || typeof when === 'boolean' ? String(when).trim() : undefined
  const fault = text === undefined ? 'must be a JavaScript expression as text' : expressionFault(text)
  if (fault !== undefined) reader.error(codes.parameterInvalid, `when ${fault}.`, [...keys, 'when'])
  if (!Object.hasOwn(item, 'then')) {
    reader.error(codes.parameterMissing, 'The parameter then of the condition is missing.', keys)
    return undefined
  }
  const then = reader.list(item.then, [...keys, 'then'])
  const otherwise = optional(item, 'else', keys, reader)
  return text === undefined ? undefined : { when: text, then, ...(otherwise && { otherwise }) }
}
