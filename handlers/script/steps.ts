/**
 * Checked step. Its parameters may contain placeholders; nested steps are a {@link StepList} or {@link
 * Branches}.
 */
export interface ScriptStep {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** JSON pointer of the step's parameters, for warnings and logs. */
  readonly path: string
}

/** Checked steps in a step's parameters, which its method runs. */
export abstract class Nested {}

/** Steps that run in order. */
export class StepList extends Nested {
  readonly steps: readonly ScriptStep[]

  constructor(steps: readonly ScriptStep[]) {
    super()
    this.steps = steps
  }

  /** Returns the index of a label in this list; undefined if it has no such label. */
  indexOf(label: string): number | undefined {
    const index = this.steps.findIndex(
      ({ method, parameters }) => method === 'label' && parameters.name === label,
    )
    return index < 0 ? undefined : index
  }
}

/** Condition with its steps. */
export interface Branch {
  /** Condition as a JavaScript expression. */
  readonly when: string
  readonly then: StepList
  /** Steps for a false condition; the following conditions are then skipped. */
  readonly otherwise?: StepList
}

/** Alternative steps, selected by the value of a variable (`switch`) or by conditions (`cond`). */
export class Branches extends Nested {
  readonly by: 'value' | 'conditions'
  /** Name of the variable whose value selects the steps; default: the variable of the method. */
  readonly variable?: string
  readonly cases: ReadonlyMap<string, StepList>
  readonly conditions: readonly Branch[]
  /** Default steps. */
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
