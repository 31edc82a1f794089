import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { makeOwnDataFolder } from './own-data-folder.ts'

const made = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-owner-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it('a data folder is created, and a folder of the same user is used', () => {
  const folder = join(made(), 'data')
  makeOwnDataFolder(folder)
  makeOwnDataFolder(folder)
  expect(statSync(folder).isDirectory()).toBe(true)
})

it.skipIf(process.getuid?.() !== 0)('root leaves the data folder of another user alone', () => {
  const folder = made()
  chownSync(folder, 4321, 4321)
  expect(() => makeOwnDataFolder(folder)).toThrow(
    `The data folder ${folder} belongs to the user with id 4321, who could not use the files of root. ` +
      `Run the command as that user: sudo -u '#4321' trunkline …`,
  )
  expect(() => makeOwnDataFolder(folder, 4321)).not.toThrow()
})
