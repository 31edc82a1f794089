/** Build of the worker from the package's source. */
import { spawn } from 'node:child_process'
import { cpSync, createWriteStream, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { builtName, type Candidate, temporaryFolder } from './cache.ts'
import { applyPatches } from './patches.ts'

/** Measured duration of the build on one core of 2.5 GHz, in minutes. */
const coreMinutes = 11

const run = (
  command: string,
  args: readonly string[],
  log: string,
  onLine?: (line: string) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const file = createWriteStream(log, { flags: 'a' })
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) {
      stream.pipe(file, { end: false })
      if (onLine) stream.on('data', (chunk: Buffer) => onLine(chunk.toString()))
    }
    child.on('error', reject)
    child.on('close', (code) => {
      file.end(() =>
        code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}\n${tail(log)}`)),
      )
    })
  })

const tail = (log: string): string => readFileSync(log, 'utf8').trimEnd().split('\n').slice(-30).join('\n')

/** Returns a reader of ninja's `[12/258]` that reports each fifth of the build. */
const progress = (say: (text: string) => void): ((text: string) => void) => {
  let reported = 0
  return (text) => {
    const at = /\[(\d+)\/(\d+)\]/.exec(text)
    if (!at) return
    const fifth = Math.floor((5 * Number(at[1])) / Number(at[2]))
    if (fifth <= reported || fifth === 5) return
    reported = fifth
    say(`${fifth * 20} % built`)
  }
}

/**
 * Compiles a patched copy of `source` in a temporary folder of the cache. Rejects with the end of the log if
 * the build fails.
 */
export const build = async (
  source: string,
  version: string,
  say: (text: string) => void,
): Promise<Candidate> => {
  const cores = Number(process.env.TRUNKLINE_BUILD_JOBS) || availableParallelism()
  say(
    `building mediasoup-worker ${version} once: ` +
      `about ${Math.max(1, Math.round(coreMinutes / cores))} minutes on ${cores} cores`,
  )
  const began = performance.now()
  const folder = temporaryFolder()
  const work = join(folder, 'work')
  try {
    const copy = join(work, 'source')
    mkdirSync(copy, { recursive: true })
    for (const part of ['src', 'include', 'fbs', 'deps', 'meson.build'])
      cpSync(join(source, part), join(copy, part), { recursive: true })
    applyPatches(copy)
    const log = join(work, 'log')
    const out = join(work, 'out')
    await run('cmake', ['-S', import.meta.dirname, '-B', out, '-G', 'Ninja', `-DSOURCE=${copy}`], log)
    await run('cmake', ['--build', out, '--parallel', String(cores)], log, progress(say))
    const binary = join(folder, 'mediasoup-worker')
    renameSync(join(out, 'mediasoup-worker'), binary)
    rmSync(work, { recursive: true })
    say(`built in ${((performance.now() - began) / 60_000).toFixed(1)} minutes`)
    return { folder, binary, name: builtName(version) }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}
