const w = require('worker_threads');
if (w.isMainThread) {
	let sum = 0, left = 4;
	for (let i = 0; i < 4; i++)
		new w.Worker(__filename, { workerData: i }).on('message', m => { sum += m; }).on('exit', () => {
			if (--left === 0)
				console.log('workers', sum);
		});
} else {
	w.parentPort.postMessage(w.workerData);
}
