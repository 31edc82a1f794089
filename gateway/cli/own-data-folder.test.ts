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

it('root leaves the data folder of another user alone', () => {
  const folder = made()
  if (process.getuid?.() === 0) chownSync(folder, 4321, 4321)
  const { uid } = statSync(folder)
  expect(() => makeOwnDataFolder(folder, 0)).toThrow(
    `The data folder ${folder} belongs to the user with id ${uid}, who could not use the files of root. ` +
      `Run the command as that user: sudo -u '#${uid}' trunkline …`,
  )
  expect(() => makeOwnDataFolder(folder, uid)).not.toThrow()
})
