import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AgentDetectorConfig } from '../../../config/types.ts'
import type { SileroData } from './silero-messages.ts'

/** Package with the model's weights, and the files in it that can be used, the best first. */
const weights = '@ricky0123/vad-web'
const weightFiles = ['dist/silero_vad_v6.onnx', 'dist/silero_vad_v5.onnx']
/** Maximum size of a model: ten times that of the largest version. */
const maxModelBytes = 32 * 1024 * 1024

/**
 * Command that installs the packages in a folder. It runs no scripts of packages, which would download more.
 */
export const installCommand = ({ folder, runtime, model }: AgentDetectorConfig): string =>
  ['npm install --ignore-scripts --prefix', folder, runtime, ...(model === undefined ? [weights] : [])].join(
    ' ',
  )

/**
 * Finds the runtime in the configured folder, and reads the model once.
 *
 * @throws {Error} if a package or file is absent, or any user can write into the folder, whose code runs in
 *   the gateway.
 */
export const findSilero = (config: AgentDetectorConfig): SileroData => {
  const { folder } = config
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`)
  if ((statSync(folder).mode & 0o002) !== 0) throw new Error(`Any user can write to ${folder}.`)
  return { runtime: entryOf(folder, config.runtime), model: read(modelOf(config)) }
}

const packagePath = (folder: string, name: string): string => join(folder, 'node_modules', name)

const entryOf = (folder: string, name: string): string => {
  // Without this check, a package of a folder above would be found, too.
  if (!existsSync(packagePath(folder, name))) throw new Error(`${name} is not installed in ${folder}.`)
  try {
    return createRequire(join(folder, 'package.json')).resolve(name)
  } catch (cause) {
    throw new Error(`${name} in ${folder} is not complete.`, { cause })
  }
}

const modelOf = ({ folder, model }: AgentDetectorConfig): string => {
  if (model !== undefined) return model
  const found = weightFiles.map((file) => join(packagePath(folder, weights), file)).find(existsSync)
  if (found === undefined) throw new Error(`${weights} is not installed in ${folder}.`)
  return found
}

/** Reads a file into memory that threads share. */
const read = (path: string): Uint8Array<SharedArrayBuffer> => {
  const size = sizeOf(path)
  const content = readFileSync(path)
  if (content.length !== size) throw new Error(`${path} changes.`)
  const model = new Uint8Array(new SharedArrayBuffer(size))
  model.set(content)
  return model
}

const sizeOf = (path: string): number => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new Error(`There is no file ${path}.`)
  if (!found.isFile() || found.size === 0 || found.size > maxModelBytes)
    throw new Error(`${path} is no model.`)
  return found.size
}
