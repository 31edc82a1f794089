import { closest } from '../../handlers/common/spelling.ts'
import type { Keys, Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'
import { projectsOf } from '../projects.ts'
import { type Entry, unique } from './unique.ts'

/** Checks that projects have unique ids, names and tokens, and that entries belong to existing projects. */
export const checkProjects = (config: FileConfig, report: Report): void => {
  const all = projectsOf(config)
  const keysOf = (i: number) => (i === 0 ? ['project'] : ['projects', i - 1])
  unique(
    'project',
    all.map(({ id }, i): Entry => [id, keysOf(i)]),
    report,
  )
  unique(
    'project name',
    all.map(({ name }, i): Entry => [name, keysOf(i)]),
    report,
  )
  all.forEach(({ apiToken }, i) => {
    // The message does not contain the token, which is secret.
    if (apiToken !== undefined && all.findIndex((each) => each.apiToken === apiToken) !== i)
      report(['projects', i - 1, 'apiToken'], 'must differ from the tokens of all other projects')
  })
  const { operatorToken } = config.http
  if (operatorToken !== undefined && all.some(({ apiToken }) => apiToken === operatorToken))
    report(['http', 'operatorToken'], 'must differ from the API tokens of all projects')
  const ids = new Set(all.map(({ id }) => id))
  const reportUnknown = (keys: Keys, id: string) => {
    const near = closest(id, ids)
    const hint = near && `did you mean \`${near}\`?`
    report(keys, 'must be the id of a project', { code: 'unknown-name', hint, quote: true })
  }
  for (const group of ['domains', 'carriers', 'endpoints', 'subscribers', 'resources', 'rooms'] as const)
    config[group].forEach(({ project }, i) => {
      if (project !== undefined && !ids.has(project)) reportUnknown([group, i, 'project'], project)
    })
  config.oauth.clients.forEach(({ project }, i) => {
    if (project !== undefined && !ids.has(project)) reportUnknown(['oauth', 'clients', i, 'project'], project)
  })
}
