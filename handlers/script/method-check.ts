import { codes } from './codes.ts'
import type { MethodSpec, SpecFinding } from './method-spec.ts'
import type { Schema } from './schema-builders.ts'
import { keysOf, type SchemaFault, schemaCheck } from './schema-check.ts'
import type { Keys, Report } from './source.ts'
import { checkValues } from './value-check.ts'

type Parameters = Readonly<Record<string, unknown>>

/** Receivers of faults. */
interface Reports {
  readonly error: Report
  readonly warning: Report
}

/** Returns the schema of a method's parameters. Nested steps are checked separately. */
export const parametersSchema = (spec: MethodSpec): Schema => ({
  title: 'an object of parameters',
  description: spec.description,
  type: 'object',
  properties: { ...spec.properties, ...noted(spec.withoutEffect) },
  required: [...(spec.required ?? [])],
  additionalProperties: false,
})

/** Schemas of parameters without effect. */
export const noted = (names: readonly string[] = []): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, { description: 'Accepted; it has no effect.' }]))

const faultsOf = schemaCheck(parametersSchema)

/** Checks the parameters of a step and returns them as an object. Undefined after an error. */
export const checkMethod = (
  spec: MethodSpec,
  given: unknown,
  keys: Keys,
  { error, warning }: Reports,
): Parameters | undefined => {
  const short = shorthandOf(spec, given)
  const parameters = short === undefined ? (given ?? {}) : { [short]: given }
  let faults = 0
  const report: Report = (code, message, at) => {
    faults++
    error(code, message, at)
  }
  // A shorthand value has no key of its own.
  const place = (at: Keys): Keys => (short === undefined ? [...keys, ...at] : [...keys, ...at.slice(1)])
  for (const fault of faultsOf(spec, parameters)) reportFault(fault, place, report)
  if (faults > 0) return undefined
  checkAlternatives(spec, parameters as Parameters, keys, report)
  checkTogether(spec, parameters as Parameters, keys, report)
  checkValues(spec, parameters as Parameters, place, report, warning)
  checkOwn(spec, given ?? {}, keys, { error: report, warning })
  warnWithoutEffect(spec, parameters, keys, warning)
  return faults > 0 ? undefined : (parameters as Parameters)
}

/** Checks a value by its own language. */
const checkOwn = ({ check }: MethodSpec, value: unknown, keys: Keys, { error, warning }: Reports): void => {
  const { faults = [], warnings = [] } = check?.(value) ?? {}
  const send = (report: Report, { path, message }: SpecFinding) => {
    const at = [...keys, ...keysOf(path)]
    report(codes.parameterInvalid, `${at.at(-1)} ${message}.`, at)
  }
  for (const fault of faults) send(error, fault)
  for (const found of warnings) send(warning, found)
}

const shorthandOf = (spec: MethodSpec, given: unknown): string | undefined => {
  if (spec.wholeParameter !== undefined) return given === undefined ? undefined : spec.wholeParameter
  return typeof given === 'number' || typeof given === 'string' ? spec.shorthand : undefined
}

const reportFault = (fault: SchemaFault, place: (at: Keys) => Keys, report: Report): void => {
  const { kind, at, text, suggestion = '' } = fault
  const keys = place(at)
  const last = keys.at(-1)
  if (kind === 'missing') report(codes.parameterMissing, `The parameter ${text} of ${last} is missing.`, keys)
  else if (kind === 'unknown')
    report(codes.parameterUndefined, `${last} has no parameter ${text}.${suggestion}`, [...keys, text])
  else report(codes.parameterInvalid, `${last} must be ${text}.`, keys)
}

const checkAlternatives = (spec: MethodSpec, parameters: Parameters, keys: Keys, report: Report): void => {
  if (!spec.exactlyOne) return
  const given = spec.exactlyOne.filter((name) => Object.hasOwn(parameters, name))
  const names = spec.exactlyOne.join(', ')
  if (given.length === 0) report(codes.parameterMissing, `One of ${names} is required.`, keys)
  if (given.length > 1)
    report(codes.parameterConflict, `Only one of ${names} can be given, not ${given.join(' and ')}.`, keys)
}

const checkTogether = (spec: MethodSpec, parameters: Parameters, keys: Keys, report: Report): void => {
  for (const [name, maxItems] of Object.entries(spec.maxTotalItems ?? {})) {
    const value = parameters[name]
    const items = Array.isArray(value) ? value.flat().length : 0
    if (items > maxItems)
      report(codes.parameterInvalid, `${name} must have at most ${maxItems} items in all its lists.`, [
        ...keys,
        name,
      ])
  }
}

/** Warns of parameters without effect, also inside lists of destinations. */
const warnWithoutEffect = (spec: MethodSpec, value: unknown, keys: Keys, warning: Report): void => {
  if (!spec.withoutEffect || typeof value !== 'object' || value === null) return
  const items = Array.isArray(value)
  for (const [key, item] of Object.entries(value)) {
    const at = [...keys, items ? Number(key) : key]
    if (spec.withoutEffect.includes(key))
      warning(codes.parameterUndefined, `The parameter ${key} has no effect here.`, at)
    else if (items || spec.lists?.includes(key)) warnWithoutEffect(spec, item, at, warning)
  }
}
