/** What the tests of the configuration share. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type ConfigFault, ConfigInvalid } from '../faults.ts'
import { loadConfig } from '../load.ts'
import type { Config } from '../types.ts'

type Env = Readonly<Record<string, string>>

/** A folder of a test's own, in which its texts are files. */
export interface TestFolder {
  readonly path: string
  /** Loads `text` as a configuration that lies in the folder. */
  load(text: string, env?: Env): Config
  /** What is wrong with `text`. Throws where nothing is. */
  faultsOf(text: string, env?: Env): readonly ConfigFault[]
  /** Paths of the keys that are wrong. Throws where none is. */
  placesOf(text: string): readonly string[]
}

/** A carrier as an item of a list, with `more` keys. */
export const carrier = (more: string, name = 'acme'): string =>
  `{ name: ${name}, targets: ["sip:gw.acme.example"], ${more} }`

/** The key `carriers` with these items. */
export const carriers = (...list: string[]): string => `carriers: [${list.join(', ')}]`

/** Keys of an endpoint. */
export const desk = 'username: desk, password: secret-one'

/** A new folder for each test of the file that calls this. */
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
