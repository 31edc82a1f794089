import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Projects } from '../../../directory/model/ports.ts'
import { shape } from './compat-shapes.ts'
import type { On } from './form-routes.ts'

/** Collaborators of the routes of accounts. */
export interface CompatAccountDeps {
  readonly projects: Pick<Projects, 'project'>
}

const answer = shape({
  sid: 'text',
  friendly_name: 'text',
  status: 'text',
  type: 'text',
  owner_account_sid: 'text',
  auth_token: 'text?',
  date_created: 'text?',
  date_updated: 'text?',
  uri: 'text',
  subresource_uris: 'links',
})

const subresources = ['Applications', 'Calls', 'Conferences', 'LamlBins', 'Queues', 'Recordings']

/** `Accounts/{sid}`: the project itself. */
export const accountRoutes = (on: On, { projects }: CompatAccountDeps): void => {
  on(
    'GET',
    '/Accounts/:account',
    { id: 'fetchCompatAccount', summary: 'Fetches the project', scope: 'calling', answer },
    async ({ projectId, base }) => bodyOf(projects, projectId, base),
  )
}

const bodyOf = (projects: Pick<Projects, 'project'>, projectId: string, base: string) => {
  const project = projects.project(projectId)
  if (!project) throw new TrunklineError('unknown_resource')
  return {
    sid: project.id,
    friendly_name: project.name,
    status: 'active',
    type: 'Full',
    owner_account_sid: project.id,
    auth_token: null,
    date_created: null,
    date_updated: null,
    uri: base,
    subresource_uris: Object.fromEntries(
      subresources.map((name) => [
        name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
        `${base}/${name}`,
      ]),
    ),
  }
}
