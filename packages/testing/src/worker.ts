export { createClient, type Task, TaskFailure, Worker, type WorkerOptions } from "../../client/src/index.ts";
