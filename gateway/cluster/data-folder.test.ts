import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { takeDataFolder } from './data-folder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'data-folder-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Returns the output of a process that takes the folder and is killed. */
const another = (): string => {
  const module = fileURLToPath(new URL('data-folder.ts', import.meta.url))
  const code = `import { takeDataFolder } from ${JSON.stringify(module)}
    try { takeDataFolder(${JSON.stringify(folder)}); console.log('taken') } catch (error) { console.log(error.message) }
    process.kill(process.pid, 'SIGKILL')`
  const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', code]
  return spawnSync(process.execPath, options, { encoding: 'utf8' }).stdout.trim()
}

it('is had by one process at a time, and by the next one when that was killed', () => {
  expect(another()).toBe('taken')
  const taken = takeDataFolder(folder)
  const refusal = `Another gateway runs with the data folder ${folder}: process ${process.pid} (`
  expect(another()).toContain(refusal)
  expect(() => takeDataFolder(folder)).toThrow(`Another gateway runs with the data folder ${folder}`)
  taken.release()
  expect(another()).toBe('taken')
})

it('says which file cannot be made', () => {
  expect(() => takeDataFolder(join(folder, 'none'))).toThrow(/none\/gateway\.lock/)
})
