/**
 * Creates resources in a gateway's directory until the process is killed, a few at once. Prints the id of
 * each resource that was reported as created. Argument: the SQLite file, or the URL of a database.
 */
import { SystemClock } from '../../core/clock.ts'
import { createDirectory } from '../directory.ts'
import { config } from './directories.ts'
import { quickPasswords } from './passwords.ts'

const [place = ''] = process.argv.slice(2)
const directory = await createDirectory({
  ...(place.startsWith('postgres:') ? { file: '', url: place } : { file: place }),
  config: config(),
  secret: new Uint8Array(32).fill(3),
  clock: new SystemClock(),
  log: { info: () => {}, error: () => {} },
  passwords: quickPasswords(),
})
const details = { topic: 'burst' }
const makeOn = async (): Promise<never> => {
  for (;;) {
    const made = await directory.resources.create({
      projectId: 'project-1',
      type: 'relay_application',
      displayName: 'Burst',
      details,
    })
    process.stdout.write(`${made.id}\n`)
  }
}
await Promise.all([makeOn(), makeOn(), makeOn(), makeOn()])
