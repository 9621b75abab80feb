import type { Output } from '../../api/client.ts'

export type Project = Output<'get_project'>
