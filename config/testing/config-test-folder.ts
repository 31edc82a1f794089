import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type ConfigFault, ConfigInvalid } from '../faults.ts'
import { loadConfig } from '../load.ts'
import type { Config } from '../types.ts'

type Env = Readonly<Record<string, string>>

/** Temporary folder of a test, for configuration files. */
export interface TestFolder {
  readonly path: string
  /** Loads `text` as a configuration file in the folder. */
  load(text: string, env?: Env): Config
  /** Returns the faults of `text`. Throws if it has none. */
  faultsOf(text: string, env?: Env): readonly ConfigFault[]
  /** Returns the paths of the faults of `text`. Throws if it has none. */
  placesOf(text: string): readonly string[]
}

/** Returns a carrier as an item of a YAML list, with the keys of `more`. */
export const carrier = (more: string, name = 'acme'): string =>
  `{ name: ${name}, targets: ["sip:gw.acme.example"], ${more} }`

/** Returns the key `carriers` with a list of items. */
export const carriers = (...list: string[]): string => `carriers: [${list.join(', ')}]`

/** Keys of an endpoint. */
export const desk = 'username: desk, password: secret-one'

/** Returns the folder of the current test; each test of the calling file has a new one. */
export const testFolder = (): TestFolder => {
  let path = ''
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'trunkline-config-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))
  const load = (text: string, env: Env = {}) => {
    const file = join(path, 'trunkline.yaml')
    writeFileSync(file, text)
    return loadConfig(file, env)
  }
  const faultsOf = (text: string, env?: Env) => {
    try {
      load(text, env)
    } catch (error) {
      if (error instanceof ConfigInvalid) return error.faults
      throw error
    }
    throw new Error('the configuration was accepted')
  }
  return {
    get path() {
      return path
    },
    load,
    faultsOf,
    placesOf: (text) => faultsOf(text).map((fault) => fault.path),
  }
}
