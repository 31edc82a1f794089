import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { codes } from './codes.ts'
import type { Report } from './document.ts'
import type { MethodSpec } from './schema.ts'
import { laterParameters, parametersSchema } from './schema.ts'
import type { Keys } from './source.ts'
import { checkValues } from './value-check.ts'

type Parameters = Readonly<Record<string, unknown>>

const ajv = new Ajv({ allErrors: true, verbose: true, strict: true })
/** One compiled schema for each method; the specifications are constants. */
const compiled = new WeakMap<MethodSpec, ValidateFunction>()

const validatorOf = (spec: MethodSpec): ValidateFunction => {
  const known = compiled.get(spec)
  if (known) return known
  const made = ajv.compile(parametersSchema(spec))
  compiled.set(spec, made)
  return made
}

/** Checks the parameters of one step; returns them as an object, or undefined after an error. */
export const checkMethod = (
  spec: MethodSpec,
  given: unknown,
  keys: Keys,
  error: Report,
  warning: Report,
): Parameters | undefined => {
  const short = spec.shorthand !== undefined && (typeof given === 'number' || typeof given === 'string')
  const parameters = short ? { [String(spec.shorthand)]: given } : (given ?? {})
  let faults = 0
  const report: Report = (code, message, at) => {
    faults++
    error(code, message, at)
  }
  const validate = validatorOf(spec)
  validate(parameters)
  for (const fault of validate.errors ?? []) reportError(fault, short ? [] : keys, keys, report)
  if (faults > 0) return undefined
  checkAlternatives(spec, parameters as Parameters, keys, report)
  checkTogether(spec, parameters as Parameters, keys, report)
  checkValues(parameters as Parameters, keys, report)
  warnWithoutEffect(spec, parameters, keys, warning)
  return faults > 0 ? undefined : (parameters as Parameters)
}

const reportError = (fault: ErrorObject, base: Keys, method: Keys, report: Report): void => {
  // The branches of an alternative say little; the alternative as a whole says what it wants.
  if (/\/anyOf\/\d+\//.test(fault.schemaPath)) return
  const inside = fault.instancePath.split('/').slice(1).map(keyOf)
  const keys = base.length > 0 ? [...base, ...inside] : method
  const last = keys.at(-1)
  if (fault.keyword === 'required') {
    const name = String(fault.params.missingProperty)
    report(codes.parameterMissing, `The parameter ${name} of ${last} is missing.`, keys)
  } else if (fault.keyword === 'additionalProperties') {
    const name = String(fault.params.additionalProperty)
    const later = laterParameters.includes(name)
    const message = later
      ? `The parameter ${name} is not supported here yet.`
      : `${last} has no parameter ${name}.`
    report(codes.parameterUndefined, message, [...keys, name])
  } else {
    const wanted = (fault.parentSchema as { title?: string } | undefined)?.title
    report(codes.parameterInvalid, `${last} must be ${wanted ?? fault.message ?? 'another value'}.`, keys)
  }
}

const keyOf = (part: string): string | number => {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(name) ? Number(name) : name
}

const checkAlternatives = (spec: MethodSpec, parameters: Parameters, keys: Keys, report: Report): void => {
  if (!spec.exactlyOne) return
  const given = spec.exactlyOne.filter((name) => Object.hasOwn(parameters, name))
  const names = spec.exactlyOne.join(', ')
  if (given.length === 0) report(codes.parameterMissing, `One of ${names} is needed.`, keys)
  if (given.length > 1)
    report(codes.parameterConflict, `Only one of ${names} can be given, not ${given.join(' and ')}.`, keys)
}

const checkTogether = (spec: MethodSpec, parameters: Parameters, keys: Keys, report: Report): void => {
  for (const [name, most] of Object.entries(spec.mostTogether ?? {})) {
    const value = parameters[name]
    const items = Array.isArray(value) ? value.flat().length : 0
    if (items > most)
      report(codes.parameterInvalid, `${name} must have at most ${most} items in all its lists.`, [
        ...keys,
        name,
      ])
  }
}

/** Also inside lists of destinations. */
const warnWithoutEffect = (spec: MethodSpec, value: unknown, keys: Keys, warning: Report): void => {
  if (!spec.withoutEffect || typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const at = [...keys, Array.isArray(value) ? Number(key) : key]
    if (spec.withoutEffect.includes(key))
      warning(codes.parameterUndefined, `The parameter ${key} has no effect here.`, at)
    else warnWithoutEffect(spec, item, at, warning)
  }
}
