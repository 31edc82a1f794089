import type { AgentFunction } from '../verbs.ts'
import type { FunctionDefinition, Json } from './document-types.ts'
import { type Hook, hookFunctions, hooks, reservedFunctions } from './function-names.ts'
import { dataLimits, sizeFault } from './values.ts'

/** Maximum number of functions, of the document and of other servers together. */
const maxFunctions = 500

interface Entry {
  readonly definition: FunctionDefinition
  /** Whether the function is on; a number: its uses that are left. */
  active: boolean | number
}

/** Functions of one conversation: which are on, how often they can be used, and their data by token. */
export class FunctionSet {
  readonly #entries = new Map<string, Entry>()
  readonly #metaData = new Map<string, Json>()

  /**
   * Adds functions; one whose name is known or reserved is left out. Returns the names that were left out.
   */
  add(definitions: readonly FunctionDefinition[]): readonly string[] {
    return definitions.flatMap((definition) => {
      const { name, metaDataToken, metaData, active } = definition
      if (reservedFunctions.has(name) || this.#entries.has(name) || this.#entries.size >= maxFunctions)
        return [name]
      this.#entries.set(name, { definition, active })
      // Functions of the same token share their data.
      this.setMetaData(metaDataToken, metaData)
      return []
    })
  }

  /** Returns a function by its name, whether or not it is on. */
  get(name: string): FunctionDefinition | undefined {
    return this.#entries.get(name)?.definition
  }

  /** Returns the function that the document has for an occasion. */
  hook(of: Hook): FunctionDefinition | undefined {
    for (const name of hooks[of]) {
      const entry = this.#entries.get(name)
      if (entry && isOn(entry)) return entry.definition
    }
    return undefined
  }

  /** Whether the document has a function for an occasion, on or off. */
  hasHook(of: Hook): boolean {
    return hooks[of].some((name) => this.#entries.has(name))
  }

  /**
   * Returns the functions for the model. `allowed`: names that the present step permits; default all.
   */
  active(allowed?: readonly string[]): readonly AgentFunction[] {
    return [...this.#entries.values()].flatMap((entry) => {
      const { definition } = entry
      const { name } = definition
      const isPermitted = allowed === undefined || allowed.includes(name)
      return isOn(entry) && isPermitted && !hookFunctions.has(name) ? [forModel(definition)] : []
    })
  }

  /** Whether the document switches a function of this name off. */
  isOff(name: string): boolean {
    const entry = this.#entries.get(name)
    return entry !== undefined && !isOn(entry)
  }

  /**
   * Counts a use. Returns the uses that are left, undefined without a limit, and `off` if the function cannot
   * be used.
   */
  use(name: string): number | undefined | 'off' {
    const entry = this.#entries.get(name)
    if (!entry || !isOn(entry)) return 'off'
    if (typeof entry.active !== 'number') return undefined
    entry.active--
    return entry.active
  }

  /** Switches functions of a token on or off. Returns the names that are unknown or of another token. */
  toggle(token: string, names: readonly string[], active: boolean | number): readonly string[] {
    return names.filter((name) => {
      const entry = this.#entries.get(name)
      if (entry?.definition.metaDataToken !== token) return true
      entry.active = active
      return false
    })
  }

  /** Data that the functions of a token share. */
  metaData(token: string): Json {
    return this.#metaData.get(token) ?? {}
  }

  /** Adds members to the data of a token. Data beyond the limits stays as it was. */
  setMetaData(token: string, data: Json): void {
    const all = { ...this.metaData(token), ...data }
    if (sizeFault(all, dataLimits) === undefined) this.#metaData.set(token, all)
  }

  /** Removes members from the data of a token. */
  unsetMetaData(token: string, keys: readonly string[]): void {
    this.#metaData.set(token, without(this.metaData(token), keys))
  }
}

/** Returns an object without some of its members. */
export const without = (data: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(data).filter(([key]) => !keys.includes(key)))

const isOn = ({ active }: Entry): boolean => (typeof active === 'number' ? active > 0 : active)

const forModel = (of: FunctionDefinition): AgentFunction => ({
  name: of.name,
  description: of.description,
  parameters: of.parameters,
  ...(of.fillers && !of.skipFillers && { fillers: of.fillers }),
  ...(of.waitSound && { waitSound: of.waitSound }),
  ...(of.waitForFillers && { waitForFillers: true }),
})
