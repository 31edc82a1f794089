import { randomUUID } from 'node:crypto'
import { hashOf } from '../index/api-tokens.ts'
import { scopes } from '../model/scopes.ts'
import type { Write } from '../store/sqlite.ts'
import type { Declared } from './declared.ts'

/** Name of the token that the file gives a project. */
const fileTokenName = 'configuration file'

/**
 * Creates or renames the projects of the file, and sets their tokens. A removed project stays without tokens:
 * its calls and recordings remain.
 */
export const provisionProjects = async (
  write: Write,
  projects: Declared['projects'],
  now: number,
): Promise<void> => {
  await vacateNames(write, projects)
  for (const { id, name } of projects)
    await write
      .insertInto('project')
      .values({ id, name, created_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
      .execute()
  const tokens = projects.flatMap(({ id, apiToken }) =>
    apiToken === undefined ? [] : [{ project_id: id, hash: hashOf(apiToken) }],
  )
  const hashes = new Set(tokens.map(({ hash }) => hash))
  const stored = await write.selectFrom('api_token').select(['id', 'hash', 'managed_by_file']).execute()
  for (const { id, hash, managed_by_file } of stored)
    if (managed_by_file === 1 && !hashes.has(hash))
      await write.deleteFrom('api_token').where('id', '=', id).execute()
  for (const token of tokens) {
    const values = { ...token, name: fileTokenName, scopes_json: JSON.stringify(scopes), managed_by_file: 1 }
    await write
      .insertInto('api_token')
      .values({ id: randomUUID(), created_at: now, expires_at: null, ...values })
      .onConflict((conflict) => conflict.column('hash').doUpdateSet({ ...values, expires_at: null }))
      .execute()
  }
}

/** Frees names that other stored projects have, because projects of the file may swap names. */
const vacateNames = async (write: Write, projects: Declared['projects']): Promise<void> => {
  const wanted = new Map(projects.map(({ id, name }) => [name, id]))
  for (const { id, name } of await write.selectFrom('project').select(['id', 'name']).execute()) {
    const by = wanted.get(name)
    if (by === undefined || by === id) continue
    const free = `p-${randomUUID()}`
    await write.updateTable('project').set({ name: free }).where('id', '=', id).execute()
  }
}
