import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-main-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Starts a command whose configuration is a pipe: it waits there until `tell` says what it is. */
const start = async (command: string) => {
  const pipe = join(folder, 'trunkline.yaml')
  execFileSync('mkfifo', [pipe])
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, command, pipe], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  // Whoever opens it to write waits for the reader.
  const configuration = await open(pipe, 'w')
  const tell = async (text: string) => {
    // Who has ended does not listen any more.
    await configuration.writeFile(text).catch(() => {})
    await configuration.close()
    return await ended
  }
  return { child, tell }
}

it('SIGHUP does not end a gateway that is starting', async () => {
  const { child, tell } = await start('run')
  child.kill('SIGHUP')
  expect(await tell('domains: nothing')).toEqual([2, null])
})

it('SIGHUP ends whatever does not run for long', async () => {
  const { child, tell } = await start('check')
  child.kill('SIGHUP')
  expect(await tell('')).toEqual([null, 'SIGHUP'])
})
