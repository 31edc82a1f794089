import { hasPlaceholder } from '../common/placeholders.ts'
import { didYouMean } from '../common/spelling.ts'
import { readBranches, type StepListReader } from './branches-reader.ts'
import { codes } from './codes.ts'
import { checkMethod } from './method-check.ts'
import type { MethodSpec, NestedKind } from './method-spec.ts'
import { confirmMethods, methods } from './methods/index.ts'
import { isObject, type Keys, pointer, type Report } from './source.ts'
import { type ScriptStep, StepList } from './steps.ts'

/** Maximum depth of nested lists of steps. */
const maxStepDepth = 16

/** Parameters that name a section, a URL or a script, by method. */
const destinationParameters: Readonly<Record<string, readonly string[]>> = {
  execute: ['dest'],
  transfer: ['dest'],
  connect: ['transfer_after_bridge'],
  enter_queue: ['transfer_after_bridge'],
}

/** Rules for the steps of a document. */
export interface StepRules {
  readonly error: Report
  readonly warning: Report
  /** Names of the document's sections. */
  readonly sections: ReadonlySet<string>
  /** Methods that may be used; default all. */
  readonly permitted?: ReadonlySet<string>
}

/** Reader of lists of steps, including nested lists. */
export class StepReader implements StepListReader {
  readonly #rules: StepRules
  /** Labels that `goto` can reach. */
  readonly #labels: ReadonlySet<string>
  readonly #depth: number

  constructor(rules: StepRules, labels: ReadonlySet<string> = new Set(), depth = 0) {
    this.#rules = rules
    this.#labels = labels
    this.#depth = depth
  }

  get error(): Report {
    return this.#rules.error
  }

  /** Reads the steps of a section or of a nested list. */
  list(value: unknown, keys: Keys): StepList {
    if (!Array.isArray(value)) {
      this.error(codes.elementWrongType, `${keys.at(-1)} must be a list of steps.`, keys)
      return new StepList([])
    }
    if (this.#depth === maxStepDepth) {
      this.error(codes.tooDeep, `Steps are nested more than ${maxStepDepth} levels deep.`, keys)
      return new StepList([])
    }
    const own = this.#labelsOf(value, keys)
    const labels = own.size === 0 ? this.#labels : new Set([...this.#labels, ...own])
    const inner = new StepReader(this.#rules, labels, this.#depth + 1)
    return new StepList(value.flatMap((step, index) => inner.#step(step, [...keys, index]) ?? []))
  }

  #labelsOf(steps: readonly unknown[], keys: Keys): Set<string> {
    const labels = new Set<string>()
    for (const [index, step] of steps.entries()) {
      const label = isObject(step) ? step.label : undefined
      if (typeof label !== 'string') continue
      if (labels.has(label))
        this.error(codes.elementDuplicated, `The label ${label} is duplicated.`, [...keys, index])
      labels.add(label)
    }
    return labels
  }

  #step(step: unknown, keys: Keys): ScriptStep | undefined {
    if (typeof step === 'string') return this.#named(step, undefined, keys)
    if (!isObject(step)) {
      this.error(
        codes.elementWrongType,
        'A step must be a method with its parameters, or the name of a method.',
        keys,
      )
      return undefined
    }
    const names = Object.keys(step)
    const [name] = names
    if (name === undefined) this.error(codes.methodNameMissing, 'The step names no method.', keys)
    else if (names.length > 1)
      this.error(
        codes.elementInvalid,
        `A step has one method, not ${names.length}: ${names.join(', ')}.`,
        keys,
      )
    else return this.#named(name, step[name], [...keys, name])
    return undefined
  }

  #named(name: string, given: unknown, keys: Keys): ScriptStep | undefined {
    const method = methods.get(name)
    if (!method) {
      const message = `There is no method ${name}.${didYouMean(name, methods.keys())}`
      this.error(codes.methodUndefined, message, keys)
      return undefined
    }
    if (this.#rules.permitted && !this.#rules.permitted.has(name)) {
      this.error(codes.methodUndefined, `The method ${name} cannot be used in confirm.`, keys)
      return undefined
    }
    if (method.isUnsupported) {
      const message = `The method ${name} is not supported: it fails when it runs.`
      this.#rules.warning(codes.methodUnsupported, message, keys)
    }
    const parameters = checkMethod(method, given, keys, this.#rules)
    if (!parameters) return undefined
    this.#checkPlaces(name, parameters, keys)
    return { method: name, parameters: this.#nested(method, parameters, keys), path: pointer(keys) }
  }

  /** Reports unknown labels and sections. */
  #checkPlaces(name: string, parameters: Readonly<Record<string, unknown>>, keys: Keys): void {
    if (name === 'goto' && !this.#labels.has(String(parameters.label)))
      this.error(
        codes.parameterInvalid,
        'label must be a label of this list of steps or of an enclosing one.',
        [...keys, 'label'],
      )
    for (const parameter of destinationParameters[name] ?? []) {
      const dest = parameters[parameter]
      if (typeof dest !== 'string' || hasPlaceholder(dest) || /^\s*\{|^[a-z][a-z0-9+.-]*:/i.test(dest))
        continue
      if (!this.#rules.sections.has(dest))
        this.error(
          codes.parameterInvalid,
          `${parameter} must be a section of the script, a URL or a script.`,
          [...keys, parameter],
        )
    }
  }

  /** Returns the parameters with their nested steps read. */
  #nested(
    spec: MethodSpec,
    parameters: Readonly<Record<string, unknown>>,
    keys: Keys,
  ): Readonly<Record<string, unknown>> {
    const { nested = {}, lists = [] } = spec
    if (Object.keys(nested).length === 0) return parameters
    const read = (name: string, value: unknown, at: Keys): unknown => {
      const kind = Object.hasOwn(nested, name) ? nested[name] : undefined
      if (kind) return this.#nestedOf(kind, value, name === spec.wholeParameter ? keys : at)
      return lists.includes(name) ? this.#items(spec, value, at) : value
    }
    return Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, read(name, value, [...keys, name])]),
    )
  }

  #items(spec: MethodSpec, value: unknown, keys: Keys): unknown {
    if (Array.isArray(value)) return value.map((item, index) => this.#items(spec, item, [...keys, index]))
    return isObject(value) ? this.#nested(spec, value, keys) : value
  }

  #nestedOf(kind: NestedKind, value: unknown, keys: Keys): unknown {
    switch (kind) {
      case 'steps':
        return this.list(value, keys)
      case 'confirm':
        return typeof value === 'string' ? value : this.#confirming.list(value, keys)
      default:
        return readBranches(kind, value, keys, this)
    }
  }

  /** Reader of a callee's steps, which cannot jump to the labels of the caller's script. */
  get #confirming(): StepReader {
    return new StepReader({ ...this.#rules, permitted: confirmMethods }, new Set(), this.#depth)
  }
}
