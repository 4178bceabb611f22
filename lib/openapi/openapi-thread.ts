import { parentPort, workerData } from 'node:worker_threads'
import { createOpenApi } from './openapi.ts'

if (parentPort !== null) parentPort.postMessage(JSON.stringify(createOpenApi(workerData)))
