/** One checked step. Parameters may still hold placeholders; steps inside of them are {@link StepList} or {@link Branches}. */
export interface ScriptStep {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON pointer of the step's parameters, for warnings and logs. */
  readonly path: string
}

/** Steps inside a step's parameters: checked already, and run by the method. */
export abstract class Nested {}

/** Steps that are run one after the other. */
export class StepList extends Nested {
  readonly steps: readonly ScriptStep[]

  constructor(steps: readonly ScriptStep[]) {
    super()
    this.steps = steps
  }

  /** Where a label stands in the list itself; undefined where it does not. */
  indexOf(label: string): number | undefined {
    const index = this.steps.findIndex(
      ({ method, parameters }) => method === 'label' && parameters.name === label,
    )
    return index < 0 ? undefined : index
  }
}

/** One condition and what it leads to. */
export interface Branch {
  /** JavaScript. */
  readonly when: string
  readonly then: StepList
  /** Run where this condition does not hold; the branches after it are not tried then. */
  readonly otherwise?: StepList
}

/** Steps of which some are chosen: by the value of a variable (`switch`), or by conditions (`cond`). */
export class Branches extends Nested {
  readonly by: 'value' | 'conditions'
  /** With `value`: the variable's name; default that of the method. */
  readonly variable?: string
  readonly cases: ReadonlyMap<string, StepList>
  readonly conditions: readonly Branch[]
  /** Where nothing else was chosen. */
  readonly otherwise?: StepList
  readonly path: string

  constructor(of: {
    readonly by: 'value' | 'conditions'
    readonly variable?: string
    readonly cases?: ReadonlyMap<string, StepList>
    readonly conditions?: readonly Branch[]
    readonly otherwise?: StepList
    readonly path: string
  }) {
    super()
    this.by = of.by
    this.variable = of.variable
    this.cases = of.cases ?? new Map()
    this.conditions = of.conditions ?? []
    this.otherwise = of.otherwise
    this.path = of.path
  }
}
