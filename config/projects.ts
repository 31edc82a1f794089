import type { FileConfig, FileProject } from './file-config.ts'
import { projectNameOf } from './project-name.ts'
import type { ProjectConfig } from './types.ts'

/** Returns the projects of a file, beginning with the first project. */
export const projectsOf = ({ project: id, projects, http, webhooks }: FileConfig): ProjectConfig[] => {
  const { signingKeys } = webhooks
  const first: FileProject = {
    id,
    signingKeys,
    ...(http.apiToken !== undefined && { apiToken: http.apiToken }),
  }
  return [first, ...projects].map(({ signingKeys = [], name, ...project }) => ({
    ...project,
    name: name?.toLowerCase() ?? projectNameOf(project.id),
    signingKeys,
  }))
}
