import type { TestProject } from 'vitest/node'
import { type CertificateFiles, CertificateFolder } from './certificates.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the TLS listeners of all gateways of a run that bring none of their own. */
    certificate: CertificateFiles
  }
}

/**
 * Global set-up of Vitest: makes one certificate for a run. A gateway takes a quarter of a second to make its
 * own.
 */
export const setup = async (project: Pick<TestProject, 'provide'>): Promise<() => void> => {
  const folder = await CertificateFolder.open()
  project.provide('certificate', await folder.issue('gw.localhost', 'fabric.localhost'))
  return () => folder.remove()
}
